import { DATA_FIELD } from '../../contract/data-field.ts';
import { joinMembers } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { integerOf } from '../../contract/json/raw-number.ts';
import { isInSeconds } from '../../contract/moment.ts';
import { isInMilliseconds } from '../../contract/time-of-case.ts';
import type { Case } from '../case.ts';
import { readExpect } from './read-expect.ts';
import { type Given, membersOf, readFlag, readMembers, readText, readTexts, textOf } from './read-members.ts';
import type { Place } from './refusal.ts';

const names = {
  document: { input: 'input', time: 'asOf' },
  request: { input: DATA_FIELD, time: 'ts' },
} as const;
const INT64_MAX = 9_223_372_036_854_775_807n;
const LONGEST_NAME = 500;
const DATE = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

type Options = {
  at: Place;
  /** Of a case in a request its number, from 0. It may have no name, and its input and time are called otherwise than in a document. */
  index?: number;
  /** Members every input has unless it gives its own. */
  defaults?: readonly Member[];
};

/** Reads one case of a document or of a request. */
export function readCase(raw: string, { at, index, defaults = [] }: Options): Case {
  const isRequest = index !== undefined;
  const { input, time } = names[isRequest ? 'request' : 'document'];
  const known = ['name', input, time, 'tags', 'skip', 'expect', ...(isRequest ? ['line'] : [])];
  const members = readMembers(raw, known, at);
  const [name, expect] = [members.get('name'), members.get('expect')];
  const text = readText(name) ?? '';
  if (text.length > LONGEST_NAME) at.in('name').refuse('too-long', { maximum: LONGEST_NAME });
  if (text === '' && !isRequest && (name === undefined || name.kind === 'string')) at.in('name').refuse('no-name', {});
  return {
    name: text === '' && isRequest ? `case ${index + 1}` : text,
    input: readInput(members.get(input), defaults),
    ts: readTime(members.get(time), isRequest),
    tags: readTexts(members.get('tags')),
    skip: readFlag(members.get('skip')),
    line: at.line() ?? lineNumber(members.get('line')),
    expect: expect === undefined ? null : readExpect(expect),
  };
}

function readInput(given: Given | undefined, defaults: readonly Member[]): string {
  const members = membersOf(given?.raw ?? '{}');
  if (members === null) return given?.at.refuse('invalid-type', { expected: 'object', received: given.kind }) ?? '{}';
  if (defaults.length === 0) return given?.raw ?? '{}';
  const own = new Set(members.map(({ key }) => key));
  const all = [...defaults.filter(({ key }) => !own.has(key)), ...members];
  return joinMembers(all.map(({ key, raw }) => [key, raw]));
}

/**
 * ISO 8601 with an offset, or epoch milliseconds; as decimal text. A request takes every number that execute takes: a replay sends the times of
 * earlier runs.
 */
function readTime(given: Given | undefined, isRequest: boolean): string | null {
  if (given === undefined) return null;
  const text = given.kind === 'string' ? textOf(given.raw) : '';
  if (DATE.test(text) && !Number.isNaN(Date.parse(text))) return String(Date.parse(text));
  const value = given.kind === 'number' ? integerOf(given.raw) : undefined;
  if (value === 0n) return null;
  if (value !== undefined && isInSeconds(value)) return given.at.refuse('time-in-seconds', {}) ?? null;
  if (value !== undefined && value > 0n && value <= INT64_MAX && (isRequest || isInMilliseconds(value)))
    return value.toString();
  return given.at.refuse('invalid-format', { expected: 'time-of-case', example: '2026-03-15T12:00:00+08:00' }) ?? null;
}

function lineNumber(given: Given | undefined): number | null {
  const value = given?.kind === 'number' ? Number(given.raw) : Number.NaN;
  return Number.isInteger(value) && value > 0 ? value : null;
}
