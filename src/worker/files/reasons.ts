import type { Why } from '../../shared/reasons/causes.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { ForeignPath, OutsideOfGroup } from './client-directory.ts';

/** Errors that say something about a directory or its disk. */
const OF_DIRECTORIES = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'ENOTDIR', 'ENAMETOOLONG'] as const;

/** The fault of the disk, not of one client's directory. */
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Whether a file could not be written for want of room. */
export const isFull = (error: unknown): boolean => FULL.has(errnoOf(error));

const ofDirectory = (error: unknown): Why | undefined => OF_DIRECTORIES.find((code) => code === errnoOf(error));

/** Why a request could not be written into a client's directory; undefined for errors that say nothing about it. */
export function whyUnwritable(error: unknown): Why | undefined {
  if (error instanceof OutsideOfGroup) return 'outside-of-group';
  return error instanceof ForeignPath ? 'not-its-own' : ofDirectory(error);
}

/** Why clients could not be looked up; undefined for errors that say nothing about their directories. */
export function whyUnlisted(error: unknown): Why | undefined {
  return error instanceof ForeignPath ? 'link-in-the-way' : ofDirectory(error);
}

/** Why no claim could be written; undefined for errors that say nothing about its directory. */
export function whyUnclaimed(error: unknown): Why | undefined {
  return errnoOf(error) === 'ENOENT' ? 'ENOENT' : ofDirectory(error);
}
