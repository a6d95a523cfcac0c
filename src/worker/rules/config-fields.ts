import { z } from 'zod';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { integerOf, RawNumber } from '../../shared/contract/json/raw-number.ts';
import type { Reading } from '../files/reading/reading.ts';
import { unusable } from '../files/reading/reading.ts';

export const INT64_MAX = 9_223_372_036_854_775_807n;

/** When a rule or node takes part: both ends inclusive, epoch ms, null = not given. */
export type TimeWindow = { type: 'always' | 'after' | 'before' | 'between'; start: bigint | null; end: bigint | null };

const windowTypes: Record<string, TimeWindow['type']> = { 5: 'after', 6: 'before', 7: 'between' };

// Clients convert as Jackson does, so a file with "5" runs like one with 5.
const integer = z
  .union([z.instanceof(RawNumber), z.string()], { error: 'must be an integer' })
  .transform((given, context) => {
    const value = typeof given === 'string' ? integerOfText(given.trim()) : integerOfNumber(given.text);
    if (value === null || (value !== undefined && value <= INT64_MAX && value >= -INT64_MAX)) return value;
    context.addIssue({ code: 'custom', message: 'must be an integer of at most 64 bits' });
    return z.NEVER;
  });

/** An empty text is no value, as for every client that takes texts. */
function integerOfText(text: string): bigint | null | undefined {
  if (text === '' || text === 'null') return null;
  return /^[+-]?\d{1,19}$/.test(text) ? BigInt(text.replace('+', '')) : undefined;
}

/** A fraction is cut off. */
function integerOfNumber(text: string): bigint | undefined {
  const number = Math.trunc(Number(text));
  return integerOf(text) ?? (Number.isSafeInteger(number) ? BigInt(number) : undefined);
}

/** An int64 that may be missing or null. */
export const optionalInteger = integer.nullish().transform((value) => value ?? null);

const trueTexts = ['true', 'True', 'TRUE'];
const falseTexts = ['false', 'False', 'FALSE', '', 'null'];

/** True or false, also as a text or as a whole number, of which only 0 is false. Null when missing. */
export const optionalFlag = z
  .union([z.boolean(), z.instanceof(RawNumber), z.string()], { error: 'must be true or false' })
  .nullish()
  .transform((given, context) => {
    if (given == null || typeof given === 'boolean') return given ?? null;
    const text = given instanceof RawNumber ? given.text : given.trim();
    if (given instanceof RawNumber && /^-?\d+$/.test(text)) return !/^-?0+$/.test(text);
    if (typeof given === 'string' && [...trueTexts, ...falseTexts].includes(text)) return trueTexts.includes(text);
    context.addIssue({ code: 'custom', message: 'must be true or false' });
    return z.NEVER;
  });

/** An id that may be missing; null and 0 mean the same. */
export const optionalId = integer
  .nullish()
  .transform((value) => value || null)
  .refine((value) => value === null || value > 0n, 'must not be negative');

/** A text that is only shown: anything but a string with something in it counts as missing. */
export const optionalText = z.string().min(1).nullable().catch(null);

/** The members every rule and node may carry to limit when it takes part. */
export const timeMembers = { timeType: optionalInteger, start: optionalInteger, end: optionalInteger };

/** The window three members stand for; an unknown or missing type is no window, as in every client. */
export function timeWindowOf(members: {
  timeType: bigint | null;
  start: bigint | null;
  end: bigint | null;
}): TimeWindow {
  const { timeType, start, end } = members;
  return { type: windowTypes[String(timeType)] ?? 'always', start, end };
}

/** The same as clients go by it: null = always, a missing end is 0. */
export function sidesOf({ type, start, end }: TimeWindow): { after: bigint | null; before: bigint | null } | null {
  if (type === 'always') return null;
  return { after: type === 'before' ? null : (start ?? 0n), before: type === 'after' ? null : (end ?? 0n) };
}

/** Reads a text as JSON by a schema, members in any case as the Java client does; what is wrong is said in words that fit after the file's name. */
export function parseConfig<S extends z.ZodRawShape>(
  text: string,
  schema: z.ZodObject<S>,
): Reading<z.output<z.ZodObject<S>>> {
  let value: ExactValue;
  try {
    value = parseExact(text);
  } catch (error) {
    return unusable(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = schema.safeParse(withKnownNames(value, Object.keys(schema.shape)), { reportInput: false });
  if (parsed.success) return { kind: 'found', value: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  return unusable(`${where === '' ? 'the document' : where}: ${issue?.message ?? 'is not what it should be'}`);
}

/** Members under the names that are known, in whatever case they are written; one in the very case counts before others. */
function withKnownNames(value: ExactValue, names: readonly string[]): ExactValue {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof RawNumber) return value;
  const known = names.flatMap((name) => {
    const written = memberNamed(value, name);
    return written === undefined ? [] : [[name, value[written]]];
  });
  return { ...value, ...Object.fromEntries(known) };
}

/** How an object writes a name: in the very case, else in any. */
export function memberNamed(object: object, name: string): string | undefined {
  if (Object.hasOwn(object, name)) return name;
  const lower = name.toLowerCase();
  return Object.keys(object).find((written) => written.toLowerCase() === lower);
}

/** The id a file's name stands for, or undefined when it is not a positive int64 in plain decimal. */
export function idOfFileName(name: string): bigint | undefined {
  const digits = /^([1-9]\d{0,18})\.json$/.exec(name)?.[1];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= INT64_MAX ? id : undefined;
}
