import { useMemo, useRef } from 'react';
import { useWindowedRows } from './windowed-rows.ts';

const LINE_HEIGHT = 20;
const LINE_LENGTH = 120;
/** Up to here the browser breaks the lines itself. */
const PLAIN_LENGTH = 20_000;

/** A text exactly as it is. A long one is cut into lines of its own and drawn in part. */
export function RawText({ text, label }: { text: string; label: string }) {
  return text.length <= PLAIN_LENGTH ? (
    <pre className="raw-text" tabIndex={0} aria-label={label} role="region">
      {text}
    </pre>
  ) : (
    <LongText text={text} label={label} />
  );
}

function LongText({ text, label }: { text: string; label: string }) {
  const box = useRef<HTMLDivElement>(null);
  const lines = useMemo(() => cut(text), [text]);
  const { first, last, above, total } = useWindowedRows(box, { count: lines.length, rowHeight: LINE_HEIGHT });
  return (
    <div className="raw-text long" ref={box} tabIndex={0} aria-label={label} role="region">
      <div style={{ height: total, paddingTop: above }}>
        {lines.slice(first, last).map(({ at, line }) => (
          <div key={at}>{line}</div>
        ))}
      </div>
    </div>
  );
}

/** Pieces of one line each, with where they begin. */
function cut(text: string): { at: number; line: string }[] {
  const pieces = text.matchAll(new RegExp(`[^\\n]{1,${LINE_LENGTH}}|\\n(?=\\n)`, 'gu'));
  return Array.from(pieces, ({ 0: line, index }) => ({ at: index, line: line === '\n' ? '' : line }));
}
