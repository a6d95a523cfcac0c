import { z } from 'zod';
import type { ExactValue } from '../../shared/contract/exact-json.ts';
import { integerOf, parseExact, RawNumber } from '../../shared/contract/exact-json.ts';
import type { Reading } from '../files/reading.ts';
import { unusable } from '../files/reading.ts';

export const INT64_MAX = 9_223_372_036_854_775_807n;

/** When a rule or node takes part: both ends inclusive, epoch ms, null = not given. */
export type TimeWindow = { type: 'always' | 'after' | 'before' | 'between'; start: bigint | null; end: bigint | null };

const windowTypes: Record<string, TimeWindow['type']> = { 5: 'after', 6: 'before', 7: 'between' };

const integer = z.instanceof(RawNumber, { error: 'must be an integer' }).transform((number, context) => {
  const value = integerOf(number.text);
  if (value !== undefined && value <= INT64_MAX && value >= -INT64_MAX) return value;
  context.addIssue({ code: 'custom', message: 'must be an integer of at most 64 bits' });
  return z.NEVER;
});

/** An int64 that may be missing or null. */
export const optionalInteger = integer.nullish().transform((value) => value ?? null);

/** An id that may be missing; null and 0 mean the same. */
export const optionalId = integer
  .nullish()
  .transform((value) => value || null)
  .refine((value) => value === null || value > 0n, 'must not be negative');

/** Decoration: whatever is not a string with something in it is simply not there. */
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

/** Reads a text as JSON by a schema; what is wrong is said in words that fit after the file's name. */
export function parseConfig<T>(text: string, schema: z.ZodType<T>): Reading<T> {
  let value: ExactValue;
  try {
    value = parseExact(text);
  } catch (error) {
    return unusable(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = schema.safeParse(value, { reportInput: false });
  if (parsed.success) return { kind: 'found', value: parsed.data };
  const [issue] = parsed.error.issues;
  const where = issue?.path.join('.') ?? '';
  return unusable(`${where === '' ? 'the document' : where}: ${issue?.message ?? 'is not what it should be'}`);
}

/** The id a file's name stands for, or undefined when it is not a positive int64 in plain decimal. */
export function idOfFileName(name: string): bigint | undefined {
  const digits = /^([1-9]\d{0,18})\.json$/.exec(name)?.[1];
  const id = digits === undefined ? undefined : BigInt(digits);
  return id !== undefined && id <= INT64_MAX ? id : undefined;
}
