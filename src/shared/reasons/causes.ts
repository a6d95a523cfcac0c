import { problemWords } from './problems.ts';
import { leftOut } from './remarks.ts';
import { fillWithCauses, givenOf, isCauseIn, type Params, type ParamsOf } from './template.ts';
import { JSON_FAULT } from './text-faults.ts';

/** Causes: parts of sentences, which may name causes in turn. Errors of the system go by their codes. */
export const whys = {
  nothing: 'nothing',
  // The queue store.
  away: 'cannot be reached',
  silent: 'did not answer',
  'refused-it': 'refused the execution',
  full: 'takes no calls ({fault})',
  'disk-of-store-full': 'the disk of SHARED_DIR is full: {left} MB are left, and {needed} are needed; make room there',
  'disk-of-store-without-files':
    'the disk of SHARED_DIR is full: it has room for {left} more files (inodes), and {needed} are needed; remove files there',
  // Directories and files.
  EACCES: 'the worker has no permission',
  EPERM: 'the worker has no permission',
  EROFS: 'it is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the quota is used up',
  EIO: 'the disk reports an error',
  ENOTDIR: 'something that is no directory is in the way',
  ENAMETOOLONG: 'its name is too long',
  ENOENT: 'it is not there (is it still mounted?)',
  EMFILE: 'the worker has too many files open',
  ENFILE: 'the machine has too many files open',
  ESTALE: 'the file server lost the file',
  ENOTCONN: 'the file server is away',
  ETIMEDOUT: 'the file server does not respond',
  internal: 'internal error',
  'outside-of-group': "the user of the worker is not in the group of its app's directory",
  'not-its-own': 'it is not a directory of its own',
  'link-in-the-way': 'a link stands in their way',
  // The shared directory of a worker.
  'dir-missing': 'SHARED_DIR cannot be used ({errno}): create or mount it',
  'dir-no-directory': 'SHARED_DIR is not a directory',
  'dir-unusable': "SHARED_DIR cannot be used ({errno}): let this worker's user read and write it",
  'dir-silent': 'SHARED_DIR does not respond: is the file server there?',
  'dir-link': 'SHARED_DIR/{place} is a link, and nothing below SHARED_DIR may be one: put a directory in its place',
  'dir-of-another':
    'SHARED_DIR/{place} belongs to another user ({owner}) than this worker ({user}), who could remove claims: let all workers run as one user, and give them .rule-server as their own',
  'dir-open':
    'SHARED_DIR/.rule-server may be written by other users, who could remove claims: let its owner set its mode to 0700',
  'dir-unwritable':
    'SHARED_DIR/{place} cannot be written by this worker ({errno}): give its user the right to, or mount it writable',
  'dir-empty':
    'SHARED_DIR is not the directory that the workers of this queue use ({right}): it has no identity, like an empty mount point. Mount the right one, and this worker goes on by itself; to use this one from now on, {why}',
  'dir-wrong':
    'SHARED_DIR is not the directory that the workers of this queue use ({right}): this is {found}. Mount the right one, and this worker goes on by itself; to use this one from now on, {why}',
  'forget-directory': 'stop all workers, run "rule-server forget-directory" and start them again',
  'start-again': 'start the service again',
  'dir-without-bytes': '{place} is full: no bytes are left',
  'dir-without-inodes': '{place} is full: no inodes are left',
  'dir-full': 'SHARED_DIR is full: the disk is full',
  'dir-over-quota': 'SHARED_DIR is full: the quota is used up',
  // A file or a folder, after its name.
  'of-file': '{file} {why}',
  'no-file': 'is not a regular file',
  'no-folder': 'is not a folder',
  directory: 'is a directory',
  socket: 'is a socket',
  pipe: 'is a pipe',
  link: 'is a link',
  'link-outwards': "is a link that leads out of its app's folder",
  'link-in-circle': 'is a link that leads in a circle',
  'link-to-nothing': 'is a link to nothing',
  'link-unreadable': 'is a link that cannot be followed ({errno})',
  'link-unfollowed': 'is a link, which is not followed on this file system',
  'link-target': 'is a link whose target {fault}',
  'behind-link': 'lies behind a link',
  'too-large': 'is larger than {maxBytes} bytes',
  unreadable: 'cannot be read ({errno})',
  'no-object': 'is not a JSON object',
  // A file of rules, or a registration.
  'no-registration': 'is not a registration',
  'of-other-app': 'says that it is of app {other}',
  'misnamed-registration': 'is not named after its address: m_{name}.json',
  'unfit-address': 'has an address that is too long, or contains a slash or a character that cannot be seen',
  'unfit-lane': 'has a name that is too long, or contains a character that cannot be seen',
  'too-many-lanes': 'has more than {most} lanes: the rest was not read',
  'too-many-entries': 'has more than {most} entries: the rest was not read',
  'too-many-folders': 'too many folders: the rest was not read',
  'not-named-by-id': 'is not named by an id',
  'other-name': 'is not named by its id: it says so in {files}',
  'says-rule': 'says that it is rule {id}: only {id}.json counts',
  'says-node': 'says that it is node {id}: only {id}.json counts',
  'says-version': 'says that it is version {version}',
  'stands-twice': 'stands twice: the newer file counts',
  'behind-confs': 'is not read, because confs {fault}',
  'not-known-then': 'is not known as of version {version}',
  'no-status': 'has no status: Java and Node clients take it as not released',
  'no-id': 'cannot be read: id is missing',
  'no-type': 'type is missing',
  'unknown-type': 'type {type} is not known',
  'unknown-error-state': 'errorState {errorState} is not known',
  'leaf-with-children': 'a leaf has no children: sonIds is ignored',
  'children-no-ids': 'sonIds: not an id: {found}',
  'children-spaced': 'sonIds has spaces: one client does not start with them',
  'too-many-children': 'has more than {most} children',
  'no-root': 'it has no root node.',
  'settings-no-object': 'confField is not a JSON object',
  'settings-not-json': `confField is not JSON: ${JSON_FAULT}`,
  'member-no-long': 'cannot be read: {member} must be an integer of at most 64 bits, not {found}',
  'member-no-byte': 'cannot be read: {member} must be an integer of at most 8 bits, not {found}',
  'member-negative': 'cannot be read: {member} must not be negative',
  'member-no-text': 'cannot be read: {member} must be a string, not {found}',
  'member-no-flag': 'cannot be read: {member} must be true or false, not {found}',
  'member-no-list': 'cannot be read: {member} must be a list',
  'member-no-ids': 'cannot be read: {member} must hold ids',
  'member-no-objects': 'cannot be read: {member} must hold objects',
  // A result file, after "it".
  'result-empty': 'is empty',
  'result-gone': 'is gone again',
  'result-cut': 'ends too early, after {bytes} bytes',
  'result-cut-character': 'is not valid UTF-8',
  'result-null': 'is the literal null: the client crashed while it ran the rule',
  'result-no-object': 'is JSON, but not an object: {type}',
  'result-twice': 'gives {names} twice',
  'result-of-another': 'answers another execution: its mockId is {found}',
  'result-no-success': 'has no "success"',
  'result-bad-flag': 'has a "{member}" that is neither true nor false: {value}',
  'result-bad-outcome': 'has an "outcome" that is none of TRUE, FALSE and NONE: {value}',
  'result-bad-data': 'has a "{member}" that is not an object: {type}',
  'result-bad-time': 'has an "executeAt" that is no integer of 64 bits: {value}',
  'result-link': 'is a link, which is never followed',
  'result-too-large': 'has {bytes} bytes, more than the {maxBytes} allowed (MAX_RESULT_BYTES)',
  // An item of a batch.
  'lost-too-long': 'the queue store lost it for longer than claims are kept',
  'lost-its-fate': 'the queue store lost what became of it',
  'not-reported': 'no worker reported its end in time',
  'not-kept': 'its answer is not kept any more',
  'batch-moved': 'another worker went on with its batch',
  ...leftOut,
  ...problemWords,
} as const;
export type Why = keyof typeof whys;
export const isWhy = (text: string | number): text is Why => Object.hasOwn(whys, text);

export const isCause = (name: string, value: string | number): boolean => isCauseIn(whys, name, value);

/** What is wrong with something: the cause, which is `problem`, and its parameters. `asWhy` and its like make it a part of another reason. */
export type Fault = Params & { problem: Why };

export const fault = <Of extends Why>(problem: Of, params: ParamsOf<(typeof whys)[Of]> & Params): Fault => ({
  ...givenOf(params),
  problem,
});

export const causeOf = (fault: Fault): string => fillWithCauses(whys[fault.problem], fault, whys);
