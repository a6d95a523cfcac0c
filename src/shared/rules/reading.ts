import { errnoOf } from '../runtime/errno.ts';

/** The result of reading one thing from the shared directory. A bad file is an answer with a reason, never a throw. */
export type Reading<T> = { kind: 'found'; value: T } | { kind: 'absent' } | { kind: 'unusable'; reason: string };

export const absent = { kind: 'absent' } as const;

/** A reading that explains why a file was skipped, in words that fit after the file's name. */
export function unusable(reason: string): { kind: 'unusable'; reason: string } {
  return { kind: 'unusable', reason };
}

/** An error in words that fit after the file's name. */
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

/** The reading a failed file system call stands for. */
export function readingOfError(error: unknown): { kind: 'absent' } | { kind: 'unusable'; reason: string } {
  const code = errnoOf(error) || String(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return absent;
  return code === 'ELOOP' ? aLink : unusable(`cannot be read (${code})`);
}
