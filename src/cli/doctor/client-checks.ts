import { constants } from 'node:fs';
import { access, lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pickUpFiles } from '../../shared/contract/pick-up-files.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const NAMED_AT_MOST = 5;
const ADVICE =
  'Run the workers and this client as one user, or let a group that both are in write the directory (mode 2775): docs/run/security.md.';
const MEND = 'Each hangs, or uses another directory than the workers: mend or stop it. Others are asked first.';

/** Checks whether this user may write the directories of the clients, and which clients do not pick up requests. */
export async function checkClients(sharedDir: string, clientTimeoutMs: number): Promise<Finding[]> {
  const apps = await appsIn(sharedDir);
  const [ofOnline, ofOthers]: [string[], string[]] = [[], []];
  let directories = 0;
  for (const app of apps) {
    const online = await onlineIn(join(sharedDir, 'clients', app), clientTimeoutMs);
    const inspect = async (path: string, isOnline: boolean, how: Wanted) => {
      const reason = await faultOf(join(sharedDir, path), how);
      if (reason !== null) (isOnline ? ofOnline : ofOthers).push(`${path} ${reason}`);
    };
    await inspect(`clients/${app}`, online.size > 0, { wanted: READS, isClient: true });
    await inspect(`mock/${app}`, online.size > 0, { wanted: WRITES, isClient: true });
    for (const name of await namesIn(join(sharedDir, 'mock', app))) {
      directories++;
      await inspect(`mock/${app}/${name}`, online.has(name), { wanted: WRITES, isClient: online.has(name) });
    }
  }
  const findings: Finding[] = [];
  const check = 'client directories';
  if (ofOnline.length > 0) findings.push(fail(check, listOf(ofOnline), ADVICE));
  if (ofOthers.length > 0) findings.push(warn(check, `of clients that are not online: ${listOf(ofOthers)}`, ADVICE));
  if (findings.length === 0) findings.push(ok(check, `${directories} may be read and written by this user`));
  const lying = await lyingIn(sharedDir, apps);
  if (lying.length > 0) findings.push(warn('clients', `online, and pick up no request: ${listOf(lying)}`, MEND));
  return findings;
}

const READS = constants.R_OK | constants.X_OK;
const WRITES = READS | constants.W_OK;

async function appsIn(sharedDir: string): Promise<string[]> {
  const names = await Promise.all(['clients', 'mock'].map((name) => namesIn(join(sharedDir, name))));
  return [...new Set(names.flat())].filter((name) => /^[1-9]\d{0,9}$/.test(name));
}

/** Empty if the folder cannot be read, which its own check reports. */
async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

type Wanted = { wanted: number; isClient: boolean };

/** Why this user cannot use a directory. Null if it can, or if the directory is missing: a worker creates it. */
async function faultOf(path: string, { wanted, isClient }: Wanted): Promise<string | null> {
  const found = await lstat(path).catch(unless('ENOENT', 'EACCES', 'ENOTDIR'));
  if (!found) return null;
  if (found.isSymbolicLink()) return 'is a link, which is never followed';
  if (!found.isDirectory()) return isClient ? 'is no directory' : null;
  const code = await access(path, wanted).then(() => '', errnoOf);
  return code === '' ? null : `may not be ${wanted === READS ? 'read' : 'written'} by this user (${code})`;
}

/** The online clients of an app, on the trunk and in lanes. */
async function onlineIn(folder: string, clientTimeoutMs: number): Promise<Set<string>> {
  const lanes = (await namesIn(join(folder, 'lane'))).map((lane) => join(folder, 'lane', lane));
  const online = new Set<string>();
  for (const place of [folder, ...lanes]) {
    for (const file of await namesIn(place)) {
      const name = /^b_(.+)\.json$/.exec(file)?.[1];
      const beat = name === undefined ? undefined : await stat(join(place, file)).catch(() => undefined);
      if (name !== undefined && beat && Date.now() - beat.mtimeMs < clientTimeoutMs) online.add(name);
    }
  }
  return online;
}

/** The clients that workers recorded as not picking up requests. */
async function lyingIn(sharedDir: string, apps: readonly string[]): Promise<string[]> {
  const { folder, lying } = pickUpFiles;
  const found: string[] = [];
  for (const app of apps) {
    const path = join(sharedDir, '.rule-server', folder, app);
    for (const name of (await namesIn(path)).filter((each) => each.startsWith(lying))) {
      const since = Number(await readFile(join(path, name), 'utf8').catch(() => 0));
      const time = since > 0 ? ` since ${new Date(since).toISOString()}` : '';
      found.push(`${name.slice(lying.length)} of app ${app}${time}`);
    }
  }
  return found;
}

function listOf(all: readonly string[]): string {
  const named = all.slice(0, NAMED_AT_MOST).join('; ');
  return all.length > NAMED_AT_MOST ? `${named}; and ${all.length - NAMED_AT_MOST} more` : named;
}
