import { errnoOf } from '../../shared/runtime/errno.ts';
import { ForeignPath, OutsideOfGroup } from './client-directory.ts';

/** Why the shared directory could not be written or read, by the error's code: what a sentence says about it. */
const REASONS = new Map([
  ['EACCES', 'the worker has no permission'],
  ['EPERM', 'the worker has no permission'],
  ['EROFS', 'it is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota is used up'],
  ['EIO', 'the disk reports an error'],
  ['ENOTDIR', 'something that is no directory is in the way'],
  ['ENAMETOOLONG', 'its name is too long'],
]);

const CANNOT_READ = new Map([
  ['EMFILE', 'the worker has too many files open'],
  ['ENFILE', 'the machine has too many files open'],
  ['ESTALE', 'the file server lost the file'],
  ['ENOTCONN', 'the file server is away'],
  ['ETIMEDOUT', 'the file server does not respond'],
]);

/** The fault of the disk, not of one client's directory. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a file could not be written for want of room. */
export const isFull = (error: unknown): boolean => FULL.has(errnoOf(error));

/** Why a request could not be written into a client's directory; undefined for errors that say nothing about it. */
export function whyUnwritable(error: unknown): string | undefined {
  if (error instanceof OutsideOfGroup) return "the user of the worker is not in the group of its app's directory";
  return error instanceof ForeignPath ? 'it is not a directory of its own' : REASONS.get(errnoOf(error));
}

/** Why clients could not be looked up; undefined for errors that say nothing about their directories. */
export function whyUnlisted(error: unknown): string | undefined {
  return error instanceof ForeignPath ? 'a link stands in their way' : REASONS.get(errnoOf(error));
}

/** Why no claim could be written; undefined for errors that say nothing about its directory. */
export function whyUnclaimed(error: unknown): string | undefined {
  return errnoOf(error) === 'ENOENT' ? 'it is not there (is it still mounted?)' : REASONS.get(errnoOf(error));
}

/** The explanation of an error that keeps a worker from reading; its code, and what that means. */
export function explained(code: string): string {
  const why = REASONS.get(code) ?? CANNOT_READ.get(code);
  return `${code || 'internal error'}${why === undefined ? '' : `: ${why}`}`;
}
