import { useMemo, useRef, useState } from 'react';
import type { Json } from '../../shared/json-tree/read-json.ts';
import { type JsonLine, linesOf } from '../json/lines.ts';
import { useText } from '../text/use-text.tsx';
import { Button } from './button.tsx';
import { Icon } from './icon.tsx';
import { useWindowedRows } from './windowed-rows.ts';

const LINE_HEIGHT = 20;
/** A longer string would make one line as wide as a house; the file has it all. */
const MAX_STRING = 2000;

/** A value over several lines, exactly as written, objects and lists folding. Draws only what is seen. */
export function JsonView({ json, label }: { json: Json; label: string }) {
  const { say } = useText();
  const box = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<number>>(new Set());
  const lines = useMemo(() => linesOf(json, folded), [json, folded]);
  const { first, last, above, total } = useWindowedRows(box, { count: lines.length, rowHeight: LINE_HEIGHT });

  const toggle = (fold: number) => {
    const next = new Set(folded);
    if (!next.delete(fold)) next.add(fold);
    setFolded(next);
  };

  return (
    <div
      className="json-view"
      ref={box}
      role="region"
      tabIndex={0}
      aria-label={`${label}, ${say('json.lines', { n: lines.length })}`}
    >
      <div className="json-lines" style={{ height: total, paddingTop: above }}>
        {lines.slice(first, last).map((line) => (
          <div
            className="json-line"
            key={`${line.role} ${line.json.start}`}
            style={{ paddingInlineStart: `${line.depth * 1.1 + 1.4}em` }}
          >
            {line.fold !== null && <Fold line={line} onToggle={toggle} />}
            {line.key !== null && <span className="json-key">{JSON.stringify(line.key)}: </span>}
            <LineText line={line} />
            {line.comma && ','}
          </div>
        ))}
      </div>
    </div>
  );
}

function Fold({ line, onToggle }: { line: JsonLine; onToggle: (fold: number) => void }) {
  const { say } = useText();
  const { fold, folded } = line;
  if (fold === null) return null;
  return (
    <Button
      className="json-fold"
      aria-expanded={!folded}
      aria-label={say(folded ? 'json.unfold' : 'json.fold')}
      onPress={() => onToggle(fold)}
    >
      <Icon name={folded ? 'chevron' : 'down'} size={12} />
    </Button>
  );
}

function LineText({ line: { json, role, folded } }: { line: JsonLine }) {
  const { say } = useText();
  if (json.kind === 'object' || json.kind === 'array') {
    const [open, close] = json.kind === 'object' ? ['{', '}'] : ['[', ']'];
    if (role !== 'value') return <span>{role === 'open' ? open : close}</span>;
    if (!folded) return <span>{`${open}${close}`}</span>;
    const size =
      json.kind === 'object'
        ? say('json.keys', { n: json.members.length })
        : say('json.items', { n: json.items.length });
    return (
      <span>
        {open} <em>{size}</em> {close}
      </span>
    );
  }
  return <Scalar json={json} />;
}

function Scalar({ json }: { json: Json }) {
  switch (json.kind) {
    case 'string': {
      const text = JSON.stringify(json.value);
      return (
        <span className="json-string">
          {text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}…" (${text.length})` : text}
        </span>
      );
    }
    case 'number':
      return <span className="json-number">{json.text}</span>;
    case 'boolean':
      return <span className="json-word">{String(json.value)}</span>;
    default:
      return <span className="json-word">null</span>;
  }
}
