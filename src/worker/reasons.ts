/** Why the shared directory could not be written or read, by the error's code: what a sentence says about it. */
export const REASONS = new Map([
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

/** The explanation of an error that keeps a worker from reading; an empty text for one that explains itself. */
export function explained(code: string): string {
  const why = REASONS.get(code) ?? CANNOT_READ.get(code);
  return why === undefined ? '' : `: ${why}`;
}
