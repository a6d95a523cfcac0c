import { scanJson } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { unknownNames } from '../../contract/nearest.ts';
import { elementsOf } from '../split-array.ts';
import type { Place } from './refusal.ts';

/** A value as it is written, and its place. */
export type Given = Pick<Member, 'kind' | 'raw'> & { at: Place };
/** `get`: a member; undefined for one that is absent or null. `written`: also where it is null. */
export type Members = Record<'get' | 'written', (name: string) => Given | undefined>;

/** The members of a JSON object by name. What is not an object, and a name that is not known, is refused. */
export function readMembers(raw: string, known: readonly string[], at: Place): Members {
  const members = membersOf(raw);
  if (members === null) at.refuse('invalid-type', { expected: 'object', members: known.slice(0, 3).join(', ') });
  const names = (members ?? []).map(({ key }) => key);
  for (const { field, code, params } of unknownNames(names, known))
    at.in(field).refuseFault({ ...params, problem: code });
  const byName = new Map(members?.map((member) => [member.key, { ...member, at: at.in(member.key) }]));
  const written = (name: string) => byName.get(name);
  return { written, get: (name) => (written(name)?.kind === 'null' ? undefined : written(name)) };
}

/** The members of a JSON object as they are written; null when it is none. */
export function membersOf(raw: string): Member[] | null {
  const scanned = scanJson(raw);
  return scanned.kind === 'complete' && scanned.type === 'object' ? scanned.members : null;
}

/** The text of a string; anything else is refused. */
export function readText(given: Given | undefined): string | undefined {
  if (given === undefined || given.kind === 'string') return given && textOf(given.raw);
  return given.at.refuse('invalid-type', { expected: 'string', received: given.kind });
}

/** A list of texts; empty when there is none. */
export function readTexts(given: Given | undefined): string[] {
  if (given === undefined) return [];
  const elements = given.kind === 'array' ? elementsOf(given.raw) : null;
  if (elements?.every((raw) => raw.startsWith('"'))) return elements.map(textOf);
  return given.at.refuse('invalid-type', { expected: 'texts' }) ?? [];
}

/** `true` or `false`; false when there is none. */
export function readFlag(given: Given | undefined): boolean {
  if (given && given.kind !== 'boolean') given.at.refuse('invalid-type', { expected: 'boolean', received: given.kind });
  return given?.raw === 'true';
}

/** The text a JSON string stands for. */
export function textOf(raw: string): string {
  return String(JSON.parse(raw)); // a string holds no number that could be rounded
}
