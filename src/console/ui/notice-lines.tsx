import { Icon } from './icon.tsx';

/** Warnings, one below the other. A screen reader tells them when they appear. */
export function NoticeLines({ className, lines }: { className: string; lines: readonly string[] }) {
  return (
    <div className={className} role="status">
      {lines.map((line) => (
        <p className="notice warn" key={line}>
          <Icon name="warning" size={14} /> {line}
        </p>
      ))}
    </div>
  );
}
