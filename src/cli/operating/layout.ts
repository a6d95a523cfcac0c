import { execFile } from 'node:child_process';
import { constants, lchown, lstat, mkdir, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { CommandFailed, type Surroundings } from '../terminal/surroundings.ts';
import { sharedDirOf } from './shared-dir.ts';

type LayoutOptions = { app: string; group: string; worker?: string; sharedDir?: string };

/** `SHARED_DIR`, `mock` and `clients`: everybody may traverse them, only workers create entries. */
const FOR_WORKERS = 0o755;
/** An app's directories: full access for its group, which new files inherit; no access for others. */
const FOR_THE_GROUP = 0o2770;

/**
 * Creates the directories of one app for one group, so that no client of another group can read its inputs, answer in its place or stop the
 * workers. Existing directories and files of clients get the group too. Prints what is left to do.
 */
export async function layout(options: LayoutOptions, surroundings: Surroundings): Promise<number> {
  const { stdout } = surroundings;
  const { app, group } = options;
  if (!/^[1-9]\d*$/.test(app)) throw new CommandFailed('--app must be the number of an app.', exitCodes.usage);
  const gid = await numberOf('group', group);
  if (gid === undefined)
    throw new CommandFailed(`There is no group ${group}: make it first (groupadd ${group}).`, exitCodes.usage);
  const sharedDir = sharedDirOf(options.sharedDir, surroundings);
  const uid = options.worker === undefined ? await ownerOf(sharedDir) : await numberOf('passwd', options.worker);
  if (uid === undefined) throw new CommandFailed(`There is no user ${options.worker}.`, exitCodes.usage);
  const homes = ['mock', 'clients'].map((name) => join(sharedDir, name));
  try {
    for (const path of [sharedDir, ...homes]) await give(path, { uid, mode: FOR_WORKERS });
    for (const home of homes) {
      const ofApp = join(home, app);
      await give(ofApp, { uid, gid, mode: FOR_THE_GROUP });
      for (const entry of await readdir(ofApp, { withFileTypes: true })) {
        const path = join(ofApp, entry.name);
        if (entry.isDirectory()) await give(path, { gid, mode: FOR_THE_GROUP });
        else await lchown(path, UNCHANGED, gid);
      }
    }
  } catch (error) {
    if (errnoOf(error) !== 'EPERM' && errnoOf(error) !== 'EACCES') throw error;
    throw new CommandFailed(`${(error as Error).message}: run this as root.`, exitCodes.failed);
  }
  stdout.write(
    `${homes.map((home) => join(home, app)).join(' and ')} are of the group ${group} alone.\n` +
      `Left to you: let the clients of app ${app} run as users in ${group}, with the umask 0007, and add the workers' user to ${group}.\n`,
  );
  return exitCodes.ok;
}

/** Workers run as the owner of an existing directory, otherwise as the user of this process. */
async function ownerOf(path: string): Promise<number | undefined> {
  return (await lstat(path).catch(unless('ENOENT')))?.uid ?? process.getuid?.();
}

type Given = { uid?: number; gid?: number; mode: number };

/** As chown(2) takes it. */
const UNCHANGED = -1;

/** Creates a directory if it is missing and changes its owner through an open handle, whatever a client puts in its place meanwhile. */
async function give(path: string, { uid = UNCHANGED, gid = UNCHANGED, mode }: Given): Promise<void> {
  await mkdir(path, { mode: 0o700 }).catch(unless('EEXIST'));
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW).catch(
    (error) => {
      if (!['ELOOP', 'ENOTDIR'].includes(errnoOf(error))) throw error;
      throw new CommandFailed(`${path} is no directory (a link?). Nothing below it was changed.`, exitCodes.failed);
    },
  );
  try {
    await directory.chown(uid, gid);
    await directory.chmod(mode);
  } finally {
    await directory.close();
  }
}

async function numberOf(database: 'passwd' | 'group', name: string): Promise<number | undefined> {
  if (/^\d+$/.test(name)) return Number(name);
  const { stdout } = await promisify(execFile)('getent', [database, name]).catch(() => ({ stdout: '' }));
  const number = stdout.split(':')[2];
  return number === undefined ? undefined : Number(number);
}
