import { constants } from 'node:fs';
import {
  access,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  symlink,
  watch,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { usedUp } from '../../shared/runtime/disk-space.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { servedFileSystems } from '../../shared/runtime/served-file-systems.ts';
import { type Clock, type Finding, fail, ok, warn } from './finding.ts';

const EVENT_WITHIN_MS = 1500;
const RUNS_WITHIN_MS = 10_000;
const LOW_FREE = 0.05;
const POLLS = 9;
const RIGHT_ONE = 'Mount the directory that the workers use. If that one is lost: rule-server forget-directory --help.';

/** Checks that the shared directory exists, is writable, is the one the workers of the queue use, and delivers file events. */
export async function checkSharedDirectory(sharedDir: string, registeredId: string | null): Promise<Finding[]> {
  const found = await stat(sharedDir).catch(unless('ENOENT', 'ENOTDIR', 'EACCES'));
  if (!found?.isDirectory())
    return [
      fail(
        'shared directory',
        `${sharedDir} is not a directory this user can see`,
        'Create or mount it, or set SHARED_DIR.',
      ),
    ];
  const rights = await checkRights(sharedDir);
  if (rights.level === 'fail') return [rights];
  return [
    rights,
    await checkIdentity(sharedDir, registeredId),
    await checkFileSystem(sharedDir),
    ...(await tryOut(sharedDir).catch((error) => [
      fail(
        'files',
        `none can be made (${errnoOf(error) || error})`,
        'Make room, or mount it writable: no call can run.',
      ),
    ])),
  ];
}

async function checkRights(sharedDir: string): Promise<Finding> {
  for (const path of [sharedDir, join(sharedDir, 'mock'), join(sharedDir, 'clients')]) {
    const code = await access(path, constants.R_OK | constants.W_OK | constants.X_OK).then(() => '', errnoOf);
    if (code === '' || (code === 'ENOENT' && path !== sharedDir)) continue;
    if (code === 'EROFS') return fail('shared directory', `${path} is mounted read-only`, 'Mount it writable.');
    const advice = `Run as the user that owns it (this one is ${process.getuid?.()}:${process.getgid?.()}), or give its group the right to write.`;
    return fail('shared directory', `${path} may not be read and written (${code})`, advice);
  }
  return (await checkStrangers(sharedDir)) ?? ok('shared directory', `${sharedDir} may be read and written`);
}

/** Finds users who could remove claims or replace the workers' folder. */
async function checkStrangers(sharedDir: string): Promise<Finding | undefined> {
  const root = await stat(sharedDir);
  const own = await stat(join(sharedDir, '.rule-server')).catch(unless('ENOENT'));
  if (own && own.uid !== root.uid && own.uid !== process.getuid?.())
    return fail(
      'shared directory',
      `.rule-server belongs to user ${own.uid}, who owns neither SHARED_DIR nor this process`,
      'Let all workers run as one user, and give them .rule-server as their own.',
    );
  if (own && (own.mode & 0o077) !== 0)
    return warn(
      'shared directory',
      '.rule-server is open to others',
      'Set its mode to 0700; a worker does so when it starts.',
    );
  if ((root.mode & 0o022) !== 0 && (root.mode & 0o1000) === 0)
    return warn(
      'shared directory',
      'other users may put another folder in the place of .rule-server',
      'Give SHARED_DIR the mode 3775 (with the sticky bit) or 0755; only mock and clients need to be writable for the group.',
    );
  return undefined;
}

async function checkIdentity(sharedDir: string, registeredId: string | null): Promise<Finding> {
  const own = (await readFile(join(sharedDir, '.rule-server', 'id'), 'utf8').catch(unless('ENOENT', 'EACCES')))?.trim();
  if (own === undefined && registeredId !== null)
    return fail(
      'identity',
      `this directory has none, and the workers of this queue use another one (${registeredId})`,
      RIGHT_ONE,
    );
  if (own === undefined)
    return warn('identity', 'no worker has used this directory yet', 'Is it the one that clients use?');
  if (registeredId === null) return ok('identity', `${own}; the queue knows of none yet`);
  return own === registeredId
    ? ok('identity', `${own}, as the queue knows it`)
    : fail('identity', `${own}, but the workers of this queue use ${registeredId}`, RIGHT_ONE);
}

async function checkFileSystem(sharedDir: string): Promise<Finding> {
  for (const path of [sharedDir, join(sharedDir, 'mock'), join(sharedDir, 'clients')]) {
    const found = await statfs(path).catch(unless('ENOENT'));
    const left = found && usedUp(found);
    if (left)
      return fail(
        'space',
        `${path} is full: no ${left} are left`,
        'Make room: no call can run, no client seems online.',
      );
  }
  const { type, bavail, blocks, ffree, files } = await statfs(sharedDir);
  const network = servedFileSystems.get(type);
  if (blocks > 0 && bavail / blocks < LOW_FREE) return warn('space', 'less than 5 % is free', 'Make room.');
  if (files > 0 && ffree / files < LOW_FREE) return warn('space', 'less than 5 % of the inodes are free', 'Make room.');
  if (network)
    return warn(
      'file system',
      `${network}: no events from other machines, one poll takes ${await pollMs(sharedDir)} ms`,
      'Answers are noticed by polls, within about a tenth of the time their rule takes. docs/run/shared-directory.md says which mount options help.',
    );
  return ok('file system', `local, ${Math.round((bavail / Math.max(1, blocks)) * 100)} % free`);
}

/** The median latency of a failed look-up, in ms. */
async function pollMs(sharedDir: string): Promise<string> {
  const took: number[] = [];
  for (let poll = 0; poll < POLLS; poll++) {
    const startedAt = performance.now();
    await stat(join(sharedDir, `.doctor-polls-${poll}`)).catch(unless('ENOENT'));
    took.push(performance.now() - startedAt);
  }
  return (took.toSorted((a, b) => a - b)[Math.floor(POLLS / 2)] ?? Number.NaN).toFixed(1);
}

/** Performs a worker's operations (write, link, rename) and waits for the file event. */
async function tryOut(sharedDir: string): Promise<Finding[]> {
  const directory = await mkdtemp(join(sharedDir, '.doctor-'));
  try {
    const event = firstEvent(directory);
    const before = Date.now();
    await writeFile(join(directory, 'a.tmp'), 'x');
    await rename(join(directory, 'a.tmp'), join(directory, 'a.json'));
    const aheadMs = Math.round((await stat(join(directory, 'a.json'))).mtimeMs - before);
    const links = await symlink('x', join(directory, 'link')).then(
      () => true,
      () => false,
    );
    const clocks = [{ whose: 'the file server', aheadMs }, ...(await workerClocks(sharedDir, aheadMs))];
    return [
      links
        ? ok('links', 'can be made')
        : warn('links', 'cannot be made', 'Claims become files; that works, but is slower.'),
      {
        ...((await event)
          ? ok('events', 'arrive')
          : warn('events', 'do not arrive', 'Check the inotify limits; answers are found by the poll meanwhile.')),
        clocks,
      },
    ];
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** Each running worker writes the time of its own clock into a file every second. */
async function workerClocks(sharedDir: string, fileAheadMs: number): Promise<Clock[]> {
  const folder = join(sharedDir, '.rule-server', 'clocks');
  const names = (await readdir(folder).catch(unless('ENOENT'))) ?? [];
  const clocks = names.map(async (name): Promise<Clock[]> => {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() + fileAheadMs - mtimeMs > RUNS_WITHIN_MS) return [];
    const own = Number(await readFile(path, 'utf8'));
    return own > 0 ? [{ whose: `the worker ${name}`, aheadMs: Math.round(own - mtimeMs + fileAheadMs) }] : [];
  });
  return (await Promise.all(clocks.map((clock) => clock.catch(() => [])))).flat();
}

async function firstEvent(directory: string): Promise<boolean> {
  const signal = AbortSignal.timeout(EVENT_WITHIN_MS);
  try {
    for await (const _ of watch(directory, { signal })) return true;
  } catch {
    // No event in time, or no watch available.
  }
  return false;
}
