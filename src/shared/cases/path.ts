/** The way to a value inside a JSON document: member names and list positions. */
export type Step = string | number;

const PLAIN = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;
const NEXT = /(?:^|\.)([^.[\]"\s]+)|\[(\d{1,9}|\*)\]|\[("(?:[^"\\]|\\.)*")\]/uy;

/** A step of a pattern that every position of a list is meant by. */
export const EVERY: unique symbol = Symbol('every position');
/** A path some of whose steps may be `[*]`. */
export type Pattern = (Step | typeof EVERY)[];

/** Reads a path such as `a.b[0]["c.d"]`; null otherwise. */
export function parsePath(text: string): Step[] | null {
  const steps = parsePattern(text) ?? [];
  const path = steps.filter((step) => step !== EVERY);
  return path.length > 0 && path.length === steps.length ? path : null;
}

/** Reads a path that may mean every element of a list, such as `items[*].id`; null otherwise. */
export function parsePattern(text: string): Pattern | null {
  if (text.startsWith('.')) return null;
  const steps: Pattern = [];
  NEXT.lastIndex = 0;
  while (NEXT.lastIndex < text.length) {
    const match = NEXT.exec(text);
    const step = match ? stepOf(match) : null;
    if (step === null) return null;
    steps.push(step);
  }
  return steps.length > 0 ? steps : null;
}

function stepOf([, name, index, quoted]: RegExpExecArray): Step | typeof EVERY | null {
  if (name !== undefined) return name;
  if (index !== undefined) return index === '*' ? EVERY : Number(index);
  try {
    const text: unknown = JSON.parse(quoted ?? '');
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** Prints a path so that `parsePath` reads the same steps again. */
export function printPath(steps: readonly (Step | typeof EVERY)[]): string {
  return steps
    .map((step, index) => {
      if (step === EVERY) return '[*]';
      if (typeof step === 'number') return `[${step}]`;
      if (PLAIN.test(step)) return index === 0 ? step : `.${step}`;
      return `[${JSON.stringify(step)}]`;
    })
    .join('');
}

/** The path of a difference whose place in the data has this path. */
export const inData = (path: string) => (path.startsWith('[') ? `data${path}` : `data.${path}`);
