import { NotJson } from '../contract/json/exact-json.ts';
import { causeOf, type Fault, fault } from '../reasons/causes.ts';
import { errnoOf } from '../runtime/errno.ts';

/** The result of reading a file. A bad file is a value, never an exception; its fault goes on after the file's name. */
export type Reading<T> = { kind: 'found'; value: T } | { kind: 'absent' } | Unreadable;
export type Unreadable = { kind: 'unusable'; fault: Fault };

export const absent = { kind: 'absent' } as const;

/** Why a file was skipped. */
export const unusable = (found: Fault): Unreadable => ({ kind: 'unusable', fault: found });

/** A fault as an error. */
export class Unusable extends Error {
  readonly fault: Fault;
  constructor(found: Fault) {
    super(causeOf(found));
    this.fault = found;
  }
}

/** Reads a file. What is thrown is the reason why the file is unusable. */
export function attempt<T>(read: () => T): Reading<T> {
  try {
    return { kind: 'found', value: read() };
  } catch (error) {
    if (error instanceof Unusable || error instanceof NotJson) return unusable(error.fault);
    return unusable(fault('unreadable', { errno: error instanceof Error ? error.message : String(error) }));
  }
}

/** The reading of a link that is not followed. */
export const aLink = unusable(fault('link', {}));

export function readingOfError(error: unknown): Exclude<Reading<never>, { kind: 'found' }> {
  const errno = errnoOf(error) || String(error);
  if (errno === 'ENOENT' || errno === 'ENOTDIR') return absent;
  return errno === 'ELOOP' ? aLink : unusable(fault('unreadable', { errno }));
}

type Stats = { isFile(): boolean; isDirectory(): boolean };

/** Why something cannot be read as a file; null for a file. */
export const faultOfKind = (stats: Stats): Fault | null =>
  stats.isFile() ? null : fault(stats.isDirectory() ? 'directory' : 'no-file', {});
