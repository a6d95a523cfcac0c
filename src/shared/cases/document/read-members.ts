import { scanJson } from '../../contract/json/exact-json.ts';
import type { Member } from '../../contract/json/json-tokens.ts';
import { unknownNames } from '../../contract/nearest.ts';
import type { Step } from '../path.ts';
import { elementsOf } from '../split-array.ts';
import type { Refusals } from './refusal.ts';

/** The members of a JSON object by name. What is not an object, and a name that is not known, is refused. */
export function readMembers(
  raw: string,
  { path, known, refusals }: { path: readonly Step[]; known: readonly string[]; refusals: Refusals },
): Map<string, Member> {
  const scanned = scanJson(raw);
  if (scanned.kind !== 'complete' || scanned.type !== 'object') {
    refusals.add(path, `must be an object with ${known.slice(0, 3).join(', ')}…`);
    return new Map();
  }
  const names = scanned.members.map(({ key }) => key);
  for (const { name, message } of unknownNames(names, known)) refusals.add([...path, name], message);
  return new Map(scanned.members.map((member) => [member.key, member]));
}

/** The text of a string member; undefined when there is none. Anything else is refused. */
export function readText(member: Member | undefined, path: readonly Step[], refusals: Refusals): string | undefined {
  if (member === undefined || member.kind === 'null') return undefined;
  if (member.kind !== 'string') {
    refusals.add(path, `must be text, found ${member.kind}`);
    return undefined;
  }
  return textOf(member.raw);
}

/** A list of texts; empty when there is none. */
export function readTexts(member: Member | undefined, path: readonly Step[], refusals: Refusals): string[] {
  if (member === undefined || member.kind === 'null') return [];
  const elements = member.kind === 'array' ? elementsOf(member.raw) : null;
  if (elements?.every((raw) => raw.startsWith('"'))) return elements.map(textOf);
  refusals.add(path, 'must be a list of texts');
  return [];
}

/** `true` or `false`; false when there is none. */
export function readFlag(member: Member | undefined, path: readonly Step[], refusals: Refusals): boolean {
  if (member === undefined || member.kind === 'null') return false;
  if (member.kind !== 'boolean') refusals.add(path, `must be true or false, found ${member.kind}`);
  return member.raw === 'true';
}

/** The text a JSON string stands for. */
export function textOf(raw: string): string {
  return String(JSON.parse(raw)); // a string holds no number that could be rounded
}
