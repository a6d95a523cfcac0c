import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { RawNumber, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import type { Read, Step, Write } from './steps.ts';

/** A value longer than this is named by its size: whoever draws a trace shows the beginning of it at most. */
const MAX_VALUE_LENGTH = 8 * 1024;
/** All values of one trace together: results are read as a whole by everybody on the way. */
const MAX_VALUES_LENGTH = 1024 * 1024;
/** Readers accept 200 levels of JSON, and a value in a trace stands four levels deeper than in the data. */
const MAX_LEVELS = 150;

/**
 * The steps of a trace as JSON text, in the order they began; `parent` is an index into them. Absent values are left out, and
 * so are those too long to carry: `size` says how long they are.
 */
export function printSteps(steps: readonly Step[]): string {
  const printed = new Map<ExactValue, string>();
  let spent = 0;

  // The same list is read by one leaf after the other: it is printed once.
  const textOf = (exact: ExactValue): string => {
    const text = printed.get(exact) ?? stringifyExact(exact);
    printed.set(exact, text);
    return text;
  };
  const value = (name: string, exact: ExactValue | undefined): string => {
    if (exact === undefined) return '';
    const text = textOf(exact);
    const fits = text.length <= MAX_VALUE_LENGTH && spent + text.length <= MAX_VALUES_LENGTH;
    if (!fits || levelsOf(exact) > MAX_LEVELS) return `,"${name}Size":${text.length}`;
    spent += text.length;
    return `,"${name}":${text}`;
  };
  const keyOf = ({ key, deep }: Read | Write) => `"key":${JSON.stringify(key)}${deep ? ',"deep":true' : ''}`;
  const read = (access: Read) => `{${keyOf(access)}${value('value', access.value)}}`;
  const write = (access: Write) => `{${keyOf(access)}${value('before', access.before)}${value('after', access.after)}}`;

  const step = ({ nodeId, name, role, parent, outcome, inverted, error, instead, start, ms, reads, writes }: Step) =>
    [
      `{"nodeId":${nodeId},"name":${JSON.stringify(name)},"role":"${role}","parent":${parent?.index ?? null}`,
      `,"outcome":"${outcome}","inverted":${inverted},"start":${rounded(start)},"ms":${rounded(ms)}`,
      error === null ? '' : `,"error":${JSON.stringify(error)}`,
      instead === null ? '' : `,"instead":"${instead}"`,
      `,"reads":[${Array.from(reads.values(), read).join(',')}],"writes":[${Array.from(writes.values(), write).join(',')}]}`,
    ].join('');

  return `[${steps.map(step).join(',')}]`;
}

const rounded = (ms: number) => Math.round(ms * 1000) / 1000;

function levelsOf(value: ExactValue): number {
  if (typeof value !== 'object' || value === null || value instanceof RawNumber) return 0;
  let deepest = 0;
  for (const member of Object.values(value)) deepest = Math.max(deepest, levelsOf(member));
  return deepest + 1;
}
