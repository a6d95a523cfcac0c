/** The way to a value inside a JSON document: member names and list positions. */
export type Step = string | number;

const PLAIN = /^[\p{L}_$][\p{L}\p{N}_$-]*$/u;
const NEXT = /(?:^|\.)([^.[\]"\s]+)|\[(\d{1,9})\]|\[("(?:[^"\\]|\\.)*")\]/uy;

/** Reads a path such as `a.b[0]["c.d"]`; null when it is none. */
export function parsePath(text: string): Step[] | null {
  if (text.startsWith('.')) return null;
  const steps: Step[] = [];
  NEXT.lastIndex = 0;
  while (NEXT.lastIndex < text.length) {
    const match = NEXT.exec(text);
    if (!match) return null;
    const step = stepOf(match);
    if (step === null) return null;
    steps.push(step);
  }
  return steps.length > 0 ? steps : null;
}

function stepOf([, name, index, quoted]: RegExpExecArray): Step | null {
  if (name !== undefined) return name;
  if (index !== undefined) return Number(index);
  try {
    const text: unknown = JSON.parse(quoted ?? '');
    return typeof text === 'string' ? text : null;
  } catch {
    return null;
  }
}

/** Prints a path so that `parsePath` reads the same steps again. */
export function printPath(steps: readonly Step[]): string {
  return steps
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      if (PLAIN.test(step)) return index === 0 ? step : `.${step}`;
      return `[${JSON.stringify(step)}]`;
    })
    .join('');
}
