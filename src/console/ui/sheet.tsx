import { type ReactNode, useEffect, useId, useRef } from 'react';
import { useText } from '../text/use-text.tsx';
import { IconButton } from './icon.tsx';

type Props = { title: string; onClose: () => void; children: ReactNode };

/** Lies over a corner of the page until it is closed, and keeps nothing from being used. Then the focus is where it was before. */
export function Sheet({ title, onClose, children }: Props) {
  const { say } = useText();
  const id = useId();
  const sheet = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    sheet.current?.querySelector('button')?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <section
      className="sheet"
      ref={sheet}
      aria-labelledby={id}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // Escape closes the sheet; a run that is under way goes on.
        event.stopPropagation();
        onClose();
      }}
    >
      <div className="sheet-head">
        <h2 id={id}>{title}</h2>
        <IconButton icon="close" label={say('sheet.close')} onPress={onClose} />
      </div>
      {children}
    </section>
  );
}
