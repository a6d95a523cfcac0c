import { errnoOf } from '../runtime/errno.ts';

/** The result of reading a file. A bad file is a value with a reason, never an exception. */
export type Reading<T> = { kind: 'found'; value: T } | { kind: 'absent' } | { kind: 'unusable'; reason: string };

export const absent = { kind: 'absent' } as const;

/** Why a file was skipped, as text that follows the file's name. */
export function unusable(reason: string): { kind: 'unusable'; reason: string } {
  return { kind: 'unusable', reason };
}

/** An error as text that follows the file's name. */
export class Unusable extends Error {}

/** Reads a file. What is thrown is the reason why the file is unusable. */
export function attempt<T>(read: () => T): Reading<T> {
  try {
    return { kind: 'found', value: read() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (error instanceof Unusable) return unusable(reason);
    return unusable(`${error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'}: ${reason}`);
  }
}

/** The reading of a link that is not followed. */
export const aLink = unusable('is a link');

export function readingOfError(error: unknown): { kind: 'absent' } | { kind: 'unusable'; reason: string } {
  const code = errnoOf(error) || String(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return absent;
  return code === 'ELOOP' ? aLink : unusable(`cannot be read (${code})`);
}
