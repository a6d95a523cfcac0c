import { join } from 'node:path';
import { pickUpFiles } from '../../shared/contract/pick-up-files.ts';
import { atMost } from '../../shared/runtime/async.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import { pickUpsDirectory } from '../files/file-names.ts';
import { mkdir, readdir, readFile, rm, writeFile } from '../files/ports/files.ts';
import { MAY_HANG_MS } from '../files/shared-directory.ts';
import type { Client } from './client.ts';

type Named = Pick<Client, 'app' | 'directoryName'>;

/** When a client picked up a request last, and since when it has let requests lie: epoch ms; null when that is not known, or it does not. */
type PickUpTimes = { lastPickUpAt: number | null; noPickUpSince: number | null };

type PickUpsDependencies = {
  sharedDir: string;
  /** The time by the file system's clock. */
  now: () => number;
  log: Logger;
};

/** The clients of an app that let requests lie, and all that are online. */
type OfApp = { names: Set<string>; online: readonly string[] };
const nobody: OfApp = { names: new Set(), online: [] };

export type PickUps = ReturnType<typeof createPickUps>;

/**
 * Remembers which clients pick up their requests. A client may beat and never look into its directory; every call that it gets fails
 * after the whole RESULT_TIMEOUT_MS. A client that let a request lie is therefore asked last, until it picks one up or has been offline.
 * Files beside the claims hold this, so that all workers know it, also after a restart.
 */
export function createPickUps({ sharedDir, now, log }: PickUpsDependencies) {
  const files = createPickUpFiles(sharedDir);
  const last = createLastPickUps(files);
  const lying = createLying(files);

  return {
    letsLie: lying.has,
    read: lying.read,
    save: last.save,

    /** A client picked up a request. */
    took(client: Named): void {
      last.note(client, Math.round(now()));
      if (!lying.has(client)) return;
      log.info({ app: client.app, client: client.directoryName }, 'the client picks up its requests again');
      lying.forgive(client);
    },

    /** A client did not pick up a request that lay in its directory since `since`, epoch ms. Resolves once other workers can know it. */
    async letLie(client: Named, since: number): Promise<void> {
      if (lying.has(client)) return;
      const fields = { app: client.app, client: client.directoryName, since: new Date(since).toISOString() };
      log.warn(
        fields,
        'the client picks up no request: others are asked first until it does. Look into it, or stop it',
      );
      await atMost(MAY_HANG_MS, lying.add(client, since));
    },

    async timesOf(client: Named): Promise<PickUpTimes> {
      return { lastPickUpAt: await last.of(client), noPickUpSince: await lying.since(client) };
    },

    /** Removes what is kept of clients that are not there any more. */
    async removeGone(clientsOf: (app: number) => Promise<readonly Named[]>): Promise<void> {
      for (const app of await files.apps()) {
        const known = new Set((await clientsOf(app)).map(({ directoryName }) => `${TOOK}${directoryName}`));
        const gone = (await files.names(app)).filter((name) => name.startsWith(TOOK) && !known.has(name));
        for (const name of gone) await files.remove(app, name);
      }
    },
  };
}

/** The clients of each app that let requests lie, as of the last listing of its clients, and what this worker noted since. */
function createLying(files: PickUpFiles) {
  const ofApps = new Map<number, OfApp>();
  const has = ({ app, directoryName }: Named): boolean => ofApps.get(app)?.names.has(directoryName) ?? false;

  function forget(app: number, name: string): void {
    const ofApp = ofApps.get(app);
    ofApp?.names.delete(name);
    if (ofApp?.names.size === 0) ofApps.delete(app);
    // A file that stays is read with the next listing, and removed at the next pick-up.
    files.remove(app, `${LYING}${name}`).catch(() => {});
  }

  return {
    has,
    add({ app, directoryName }: Named, since: number): Promise<void> {
      const { names, online } = ofApps.get(app) ?? nobody;
      ofApps.set(app, { names: new Set([...names, directoryName]), online });
      return files.write(app, `${LYING}${directoryName}`, String(since), 'wx');
    },
    since: async (client: Named): Promise<number | null> =>
      has(client) ? files.time(client.app, `${LYING}${client.directoryName}`) : null,

    /** Forgets that a client let requests lie. */
    forgive({ app, directoryName }: Named): void {
      const { names, online } = ofApps.get(app) ?? nobody;
      // If all of them let requests lie, the fault was not a client's. Otherwise the first one to recover would get every call.
      const forgiven = online.every((name) => names.has(name)) ? [...names] : [directoryName];
      for (const name of forgiven) forget(app, name);
    },

    /** Reads what all workers noted. A client that has been offline since starts afresh. */
    async read(app: number, clients: readonly Client[]): Promise<void> {
      const online = clients.filter((client) => client.online).map(({ directoryName }) => directoryName);
      const all = await files.names(app).catch(() => []);
      const noted = all.filter((name) => name.startsWith(LYING)).map((name) => name.slice(LYING.length));
      const names = new Set(noted.filter((name) => online.includes(name)));
      if (names.size > 0) ofApps.set(app, { names, online });
      else ofApps.delete(app);
      for (const name of noted) if (!names.has(name)) forget(app, name);
    },
  };
}

/** Pick-ups that are not saved yet: more come together only while no file can be written. */
const MAX_UNSAVED = 10_000;

/** The last pick-up of each client. They may be many a second: they are saved together, every few seconds. */
function createLastPickUps(files: PickUpFiles) {
  const unsaved = new Map<string, { client: Named; at: number }>();
  const keyOf = ({ app, directoryName }: Named) => `${app}/${directoryName}`;

  return {
    note(client: Named, at: number): void {
      if (unsaved.size >= MAX_UNSAVED) unsaved.clear();
      const { app, directoryName } = client;
      unsaved.set(keyOf(client), { client: { app, directoryName }, at });
    },

    async of(client: Named): Promise<number | null> {
      const saved = (await files.time(client.app, `${TOOK}${client.directoryName}`)) ?? 0;
      return Math.max(saved, unsaved.get(keyOf(client))?.at ?? 0) || null;
    },

    /** Saves them for other workers. What fails stays for the next time. */
    async save(): Promise<void> {
      for (const [key, pickUp] of [...unsaved]) {
        const { app, directoryName } = pickUp.client;
        await files.write(app, `${TOOK}${directoryName}`, String(pickUp.at), 'w');
        if (unsaved.get(key) === pickUp) unsaved.delete(key);
      }
    },
  };
}

const { took: TOOK, lying: LYING } = pickUpFiles;

type PickUpFiles = ReturnType<typeof createPickUpFiles>;

/** A folder for each app, with small files named after a client; each holds a time, epoch ms. */
function createPickUpFiles(sharedDir: string) {
  const folderOf = (app: number | string) => pickUpsDirectory(sharedDir, app);
  const root = folderOf('');
  const makeFolder = (path: string) => mkdir(path, { mode: 0o700 }).catch(unless('EEXIST'));
  const pathOf = (app: number, name: string) => join(folderOf(app), name);

  return {
    names: async (app: number): Promise<string[]> => (await readdir(folderOf(app)).catch(unless('ENOENT'))) ?? [],
    apps: async (): Promise<number[]> => ((await readdir(root).catch(unless('ENOENT'))) ?? []).map(Number),
    remove: (app: number, name: string) => rm(pathOf(app, name), { force: true }),
    async write(app: number, name: string, text: string, flag: 'w' | 'wx'): Promise<void> {
      const put = () => writeFile(pathOf(app, name), text, { flag, mode: 0o600 });
      await put().catch(async (error) => {
        if (errnoOf(error) !== 'ENOENT') throw error;
        await makeFolder(root);
        await makeFolder(folderOf(app));
        await put();
      });
    },
    async time(app: number, name: string): Promise<number | null> {
      const text = await readFile(pathOf(app, name)).catch(unless('ENOENT', 'ENOTDIR'));
      return Number(text ?? 0) || null;
    },
  };
}
