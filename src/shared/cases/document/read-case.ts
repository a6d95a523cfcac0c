import { DATA_FIELD } from '../../contract/data-field.ts';
import { joinMembers, scanJson } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { integerOf } from '../../contract/json/raw-number.ts';
import { isInSeconds, noMomentMessage } from '../../contract/moment.ts';
import { isInMilliseconds } from '../../contract/time-of-case.ts';
import type { Case } from '../case.ts';
import type { Step } from '../path.ts';
import { printPath } from '../path.ts';
import { readExpect } from './read-expect.ts';
import { readFlag, readMembers, readText, readTexts, textOf } from './read-members.ts';
import type { LineOf, Refusals } from './refusal.ts';

/** How a case is written: in a document, or in a request. They differ in what input and time are called. */
type Writing = 'document' | 'request';

const names = {
  document: { input: 'input', time: 'asOf' },
  request: { input: DATA_FIELD, time: 'ts' },
} as const;
const INT64_MAX = 9_223_372_036_854_775_807n;
const LONGEST_NAME = 500;
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

type Options = {
  writing: Writing;
  path: readonly Step[];
  refusals: Refusals;
  lineOf: LineOf;
  /** Members every input has unless it gives its own. */
  defaults: readonly Member[];
};

/** Reads one case. A request may leave out the name. */
export function readCase(raw: string, { writing, path, refusals, lineOf, defaults }: Options): Case {
  const { input, time } = names[writing];
  const known = ['name', input, time, 'tags', 'skip', 'expect', ...(writing === 'request' ? ['line'] : [])];
  const members = readMembers(raw, { path, known, refusals });
  const at = (name: string) => [...path, name];
  const expect = members.get('expect');
  return {
    name: readCaseName(members.get('name'), { writing, path: at('name'), refusals }),
    input: readInput(members.get(input), { path: at(input), refusals, defaults }),
    ts: readTime(members.get(time), { writing, path: at(time), refusals }),
    tags: readTexts(members.get('tags'), at('tags'), refusals),
    skip: readFlag(members.get('skip'), at('skip'), refusals),
    line: lineOf(printPath(path)) ?? lineNumber(members.get('line')),
    expect: expect === undefined || expect.kind === 'null' ? null : readExpect(expect.raw, at('expect'), refusals),
  };
}

function readCaseName(
  member: Member | undefined,
  { writing, path, refusals }: Pick<Options, 'writing' | 'path' | 'refusals'>,
): string {
  const name = readText(member, path, refusals) ?? '';
  const position = path.find((step) => typeof step === 'number');
  if (name === '' && writing === 'request') return `case ${Number(position) + 1}`;
  if (name === '' && (member === undefined || member.kind === 'string' || member.kind === 'null'))
    refusals.add(path, 'is missing: give every case a name');
  if (name.length > LONGEST_NAME) refusals.add(path, `is longer than ${LONGEST_NAME} characters`);
  return name;
}

function readInput(
  member: Member | undefined,
  { path, refusals, defaults }: Pick<Options, 'path' | 'refusals' | 'defaults'>,
): string {
  const raw = member === undefined || member.kind === 'null' ? '{}' : member.raw;
  const scanned = scanJson(raw);
  if (scanned.kind !== 'complete' || scanned.type !== 'object') {
    refusals.add(path, `must be an object, found ${member?.kind}`);
    return '{}';
  }
  if (defaults.length === 0) return raw;
  const own = new Set(scanned.members.map(({ key }) => key));
  const all = [...defaults.filter(({ key }) => !own.has(key)), ...scanned.members];
  return joinMembers(all.map(({ key, raw: value }) => [key, value]));
}

/**
 * ISO 8601 with an offset, or epoch milliseconds; as decimal text. A request takes every number that execute takes: a replay sends the times of
 * earlier runs.
 */
function readTime(
  member: Member | undefined,
  { writing, path, refusals }: Pick<Options, 'writing' | 'path' | 'refusals'>,
): string | null {
  if (member === undefined || member.kind === 'null') return null;
  const text = member.kind === 'string' ? textOf(member.raw) : '';
  if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return String(Date.parse(text));
  const value = member.kind === 'number' ? integerOf(member.raw) : undefined;
  if (value === 0n) return null;
  const isSeconds = value !== undefined && isInSeconds(value);
  if (isSeconds) refusals.add(path, noMomentMessage('seconds'));
  else if (
    value !== undefined &&
    value > 0n &&
    value <= INT64_MAX &&
    (writing === 'request' || isInMilliseconds(value))
  )
    return value.toString();
  else refusals.add(path, 'must be a time with an offset such as 2026-03-15T12:00:00+08:00, or epoch milliseconds');
  return null;
}

function lineNumber(member: Member | undefined): number | null {
  const value = member?.kind === 'number' ? Number(member.raw) : Number.NaN;
  return Number.isInteger(value) && value > 0 ? value : null;
}
