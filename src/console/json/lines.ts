import type { Json } from '../../shared/json-tree/read-json.ts';

/** One line of a value printed over several. `fold`: the offset that names the object or list that opens here. */
export type JsonLine = {
  depth: number;
  key: string | null;
  /** `{` and `[` open, `}` and `]` close, everything else is a value. A folded or empty container is one value line. */
  role: 'open' | 'close' | 'value';
  json: Json;
  fold: number | null;
  folded: boolean;
  comma: boolean;
};

/** The lines of a value, the insides of folded containers left out. */
export function linesOf(root: Json, folded: ReadonlySet<number>): JsonLine[] {
  const lines: JsonLine[] = [];

  function add(json: Json, place: { depth: number; key: string | null; comma: boolean }): void {
    const { depth, comma } = place;
    const inside = insideOf(json);
    const isFolded = inside.length > 0 && folded.has(json.start);
    if (inside.length === 0 || isFolded) {
      lines.push({ ...place, role: 'value', json, fold: isFolded ? json.start : null, folded: isFolded });
      return;
    }
    lines.push({ ...place, role: 'open', json, fold: json.start, folded: false, comma: false });
    for (const [index, { key, value }] of inside.entries()) {
      add(value, { depth: depth + 1, key, comma: index < inside.length - 1 });
    }
    lines.push({ depth, key: null, role: 'close', json, fold: null, folded: false, comma });
  }

  add(root, { depth: 0, key: null, comma: false });
  return lines;
}

function insideOf(json: Json): { key: string | null; value: Json }[] {
  if (json.kind === 'object') return json.members;
  return json.kind === 'array' ? json.items.map((value) => ({ key: null, value })) : [];
}
