import { parseExact } from '../contract/json/exact-json.ts';
import { type ExactObject, type ExactValue, isExactObject, stringifyExact } from '../contract/json/raw-number.ts';
import { fault, type Why } from '../reasons/causes.ts';
import { javaBoolean, javaInteger, javaText } from './java-scalars.ts';
import { attempt, Unusable } from './reading.ts';

/** The JSON object a file holds. Throws an error that says why it holds none. */
export function objectOf(text: string): ExactObject {
  const value = parseExact(text);
  if (isExactObject(value)) return value;
  throw new Unusable(fault('no-object', {}));
}

/** Reads the JSON object of a file by `read`. */
export const parseObject = <T>(text: string, read: (object: ExactObject) => T) => attempt(() => read(objectOf(text)));

/** Finds a member by its exact name, else ignoring case, as the Java SDK does. */
export function memberNamed(object: object, name: string): string | undefined {
  if (Object.hasOwn(object, name)) return name;
  const lower = name.toLowerCase();
  return Object.keys(object).find((written) => written.toLowerCase() === lower);
}

export function memberOf(object: ExactObject, name: string): ExactValue | undefined {
  const written = memberNamed(object, name);
  return written === undefined ? undefined : object[written];
}

/** An int64, null when absent. Throws for what the Java SDK cannot read as one. */
export function integerMember(object: ExactObject, name: string): bigint | null {
  const value = memberOf(object, name);
  return javaInteger(value) ?? nullOr(value, 'member-no-long', name);
}

/** A small integer such as a type, null when absent. Throws for one that does not fit into a byte. */
export function byteMember(object: ExactObject, name: string): bigint | null {
  const integer = integerMember(object, name);
  if (integer === null || (integer >= -128n && integer <= 255n)) return integer && BigInt.asIntN(8, integer);
  throw new Unusable(fault('member-no-byte', { member: name, found: `${integer}` }));
}

/** A positive id; missing, null and 0 are all null. */
export function idMember(object: ExactObject, name: string): bigint | null {
  const id = integerMember(object, name) ?? 0n;
  if (id < 0n) throw new Unusable(fault('member-negative', { member: name }));
  return id === 0n ? null : id;
}

/** A text, empty when absent. */
export function textMember(object: ExactObject, name: string): string {
  const value = memberOf(object, name);
  return javaText(value) ?? nullOr(value, 'member-no-text', name) ?? '';
}

/** A display name; null for anything but a non-empty string. */
export function nameMember(object: ExactObject): string | null {
  const value = memberOf(object, 'name');
  return typeof value === 'string' && value !== '' ? value : null;
}

/** True or false, false when absent. */
export function flagMember(object: ExactObject, name: string): boolean {
  const value = memberOf(object, name);
  return javaBoolean(value) ?? nullOr(value, 'member-no-flag', name) ?? false;
}

/** A list, empty when missing or null. */
export function listMember(object: ExactObject, name: string): ExactValue[] {
  const value = memberOf(object, name) ?? [];
  if (!Array.isArray(value)) throw new Unusable(fault('member-no-list', { member: name }));
  return value;
}

type NoSuch = Extract<Why, 'member-no-long' | 'member-no-text' | 'member-no-flag'>;

/** Null for what counts as absent; throws for what is there and cannot be read. */
function nullOr(value: ExactValue | undefined, problem: NoSuch, member: string): null {
  if (value == null || (typeof value === 'string' && ['', 'null'].includes(value.trim()))) return null;
  throw new Unusable(fault(problem, { member, found: stringifyExact(value).slice(0, 60) }));
}
