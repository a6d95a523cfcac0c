import { errnoOf } from '../runtime/errno.ts';

/** The result of reading one thing from the shared directory. A bad file is an answer with a reason, never a throw. */
export type Reading<T> = { kind: 'found'; value: T } | { kind: 'absent' } | { kind: 'unusable'; reason: string };

export const absent = { kind: 'absent' } as const;

/** A reading that explains why a file was skipped, in words that fit after the file's name. */
export function unusable(reason: string): { kind: 'unusable'; reason: string } {
  return { kind: 'unusable', reason };
}

/** The reading a failed file system call stands for. */
export function readingOfError(error: unknown): { kind: 'absent' } | { kind: 'unusable'; reason: string } {
  const code = errnoOf(error) || String(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return absent;
  return unusable(code === 'ELOOP' ? 'is a link' : `cannot be read (${code})`);
}
