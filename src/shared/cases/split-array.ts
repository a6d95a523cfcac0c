/** The elements of a JSON array as they are written. The text has been checked to be JSON already. */
export function elementsOf(raw: string): string[] {
  const elements: string[] = [];
  let depth = 0;
  let start = -1;
  for (let at = 0; at < raw.length; at++) {
    const char = raw[at];
    if (char === '"') {
      if (start < 0) start = at;
      at = endOfString(raw, at);
    } else if (char === '[' || char === '{') {
      if (depth++ === 1 && start < 0) start = at;
      if (depth === 1) start = -1;
    } else if ((char === ']' || char === '}') && --depth === 0) {
      if (start >= 0) elements.push(raw.slice(start, at).trimEnd());
    } else if (char === ',' && depth === 1) {
      elements.push(raw.slice(start, at).trimEnd());
      start = -1;
    } else if (start < 0 && char !== undefined && !/\s/.test(char)) start = at;
  }
  return elements;
}

/** The same array with other elements. */
export function mapElements(raw: string, change: (element: string) => string): string {
  return `[${elementsOf(raw).map(change).join(',')}]`;
}

function endOfString(raw: string, start: number): number {
  let at = start + 1;
  while (raw[at] !== '"') at += raw[at] === '\\' ? 2 : 1;
  return at;
}
