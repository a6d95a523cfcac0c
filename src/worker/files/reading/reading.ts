// This room: `reading.ts` is what a reading comes to. `bounded-file.ts` reads one file, `folder-entries.ts` a folder, both with limits.
// `joined-reads.ts` shares a read that is under way, `path-cache.ts` one that is over. `turns.ts` lets others in between many reads.

import { errnoOf } from '../../../shared/runtime/errno.ts';

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
