import type { AskedRequest } from './execute-request.ts';

/** What a caller asks to be run: each number as decimal text, data and stubs as JSON text. */
type CallText = { [Name in keyof AskedRequest]?: string | boolean | null | undefined };

const QUOTED = new Set(['target', 'scene', 'comparisonId', 'derivedFrom']);

/** The body of execute. Numbers, data and stubs stay as they are written; what is null or false is left out. */
export function executeBody(call: CallText): string {
  const members = Object.entries(call).flatMap(([name, value]) =>
    value === null || value === undefined || value === false
      ? []
      : [`${JSON.stringify(name)}:${QUOTED.has(name) ? JSON.stringify(value) : value}`],
  );
  return `{${members.join(',')}}`;
}
