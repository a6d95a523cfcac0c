import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { time } from '../../shared/ports/time.ts';
import type { Skipped } from '../../shared/rules/entries.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { isRealDirectory } from '../files/client-directory.ts';
import type { FileClock } from '../files/file-clock.ts';
import { clientsDirectory, isPlainName, MADE_BY_US, mockDirectory, registrationPath } from '../files/file-names.ts';
import { lstat, lstatCached } from '../files/file-system.ts';
import { readdir } from '../files/ports/files.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import { createJoinedReads } from '../files/reading/joined-reads.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import { type Client, directoryOnly } from './client.ts';
import type { PickUps } from './pick-ups.ts';
import { createPublishedLeaves } from './published-leaves.ts';
import { createRegisteredClients, entriesOf } from './registered-clients.ts';

/** A listing this old is as good as new; one a little older still answers, while a new one is being made. */
const GOOD_FOR_MS = 1000;
const TOLERABLE_FOR_MS = 3000;
/**
 * Where a listing takes long, because there are very many clients, an older one is as good, so that a worker does other things most of the
 * time; and calls use a still older one instead of waiting. Both in times of what it took.
 */
const GOOD_FOR_LISTINGS = 2;
const TOLERABLE_FOR_LISTINGS = 4;
const MAX_APPS_REMEMBERED = 500;

/** The clients of an app, and the registrations that were passed over. */
export type Roster = { clients: Client[]; skipped: Skipped[] };

type AppClients = {
  readRegistered: ReturnType<typeof createRegisteredClients>;
  /** `tookMs`: to list. */
  last: { at: number; tookMs: number; roster: Roster } | null;
  refreshing: Promise<Roster> | null;
};
/** `now`: a monotonic clock in ms. */
type ClientsDependencies = {
  sharedDirectory: SharedDirectory;
  pickUps: Pick<PickUps, 'read'>;
  clientTimeoutMs: number;
  now?: () => number;
};

export type Clients = ReturnType<typeof createClients>;

/**
 * Lists the clients of each app. A listing is kept for a moment; `fresh` lists again, so that a client that registered a moment
 * ago is never called unknown. Throws `ForeignPath` when a link stands where an app's clients should be.
 */
export function createClients(dependencies: ClientsDependencies) {
  const { sharedDirectory, pickUps, clientTimeoutMs, now = () => time.monotonic() } = dependencies;
  const { sharedDir, clock } = sharedDirectory;
  const leavesOf = createPublishedLeaves();
  const directoriesOf = createUnregisteredClients(sharedDir);
  const joinReads = createJoinedReads<Roster>();
  // A caller may name any app number. With `max` the cache would take the memory of all of them at once.
  const apps = new LRUCache<number, AppClients>({ maxSize: MAX_APPS_REMEMBERED, sizeCalculation: () => 1 });

  /** All clients of an app, offline ones too. */
  async function roster(app: number, { fresh = false } = {}): Promise<Roster> {
    if (fresh) return joinReads(String(app), () => read(app));
    const remembered = rememberedOf(app);
    const { last } = remembered;
    const age = last ? now() - last.at : Number.POSITIVE_INFINITY;
    const notOlder = (ms: number, listings: number) =>
      Math.min(Math.max(ms, listings * (last?.tookMs ?? 0)), clientTimeoutMs / 2); // or a client that beats seems offline
    if (last && age < notOlder(GOOD_FOR_MS, GOOD_FOR_LISTINGS)) return last.roster;
    remembered.refreshing ??= joinReads(String(app), () => read(app)).finally(() => {
      remembered.refreshing = null;
    });
    if (!last || age >= notOlder(TOLERABLE_FOR_MS, TOLERABLE_FOR_LISTINGS)) return remembered.refreshing;
    remembered.refreshing.catch(() => {}); // the next call with a listing that is too old gets this error
    return last.roster;
  }

  function rememberedOf(app: number): AppClients {
    const known = apps.get(app);
    if (known) return known;
    const readRegistered = createRegisteredClients({ app, leavesOf, clientTimeoutMs });
    const remembered: AppClients = { readRegistered, last: null, refreshing: null };
    apps.set(app, remembered);
    return remembered;
  }

  async function read(app: number): Promise<Roster> {
    const remembered = rememberedOf(app);
    const at = now();
    const root = clientsDirectory(sharedDir, app);
    const hasClients = await isRealDirectory(sharedDir, root);
    const registered = hasClients ? await remembered.readRegistered(root, await aheadMs(clock)) : noneRegistered;
    const directories = await directoriesOf(app, registered.claimed);
    const roster = { clients: [...registered.clients, ...directories], skipped: registered.skipped };
    await pickUps.read(app, roster.clients);
    remembered.last = { at, tookMs: now() - at, roster };
    return roster;
  }

  return {
    roster,

    ...listingsOf(sharedDir, roster),

    /** Whether a client of a remembered listing has not left since: the last look before it is given something. */
    isStillThere: (client: Client): Promise<boolean> => exists(signOfLife(sharedDir, client), lstatCached),
  };
}

function listingsOf(sharedDir: string, roster: (app: number, options?: { fresh?: boolean }) => Promise<Roster>) {
  const apps = () => appsWithClients(sharedDir);
  return {
    list: async (app: number, options?: { fresh?: boolean }): Promise<Client[]> => (await roster(app, options)).clients,

    /** The apps that have a folder for clients. */
    apps,

    /** Whether any app has a client: a registration, even one that cannot be read, or a directory. */
    async areThereAny(): Promise<boolean> {
      for (const app of await apps()) {
        const { clients, skipped } = await roster(app);
        if (clients.length + skipped.length > 0) return true;
      }
      return false;
    },
  };
}

async function appsWithClients(sharedDir: string): Promise<number[]> {
  const folders = ['clients', 'mock'].map((name) => join(sharedDir, name));
  const names = await Promise.all(folders.map(async (folder) => (await readdir(folder).catch(unless('ENOENT'))) ?? []));
  return [...new Set(names.flat())].filter((name) => /^[1-9]\d{0,9}$/.test(name)).map(Number);
}

/** The members that a client has for as long as it lives. */
function signOfLife(sharedDir: string, client: Client): string {
  if (client.registered) return registrationPath(sharedDir, client);
  return join(mockDirectory(sharedDir, client.app), client.directoryName);
}

/** On a full or read-only file system, the last measurement is used. */
async function aheadMs(clock: FileClock): Promise<number> {
  await clock.touch().catch(() => {});
  return clock.aheadMs();
}

/** Directories that no registration names. A directory that a worker made for an address that has never answered is no client. */
function createUnregisteredClients(sharedDir: string) {
  return async function directoriesOf(app: number, claimed: ReadonlySet<string>): Promise<Client[]> {
    const path = mockDirectory(sharedDir, app);
    if (!(await isRealDirectory(sharedDir, path))) return [];
    const entries = (await entriesOf(path)).filter((entry) => entry.isDirectory());
    const names = entries.map(({ name }) => name).filter((name) => isPlainName(name) && !claimed.has(name));
    const ours = await mapInBulk(names, (name) => exists(join(path, name, MADE_BY_US)));
    return names.filter((_, at) => !ours[at]).map((name) => directoryOnly(app, name));
  };
}

const noneRegistered = { clients: [], skipped: [], claimed: new Set<string>() };

async function exists(path: string, look = lstat): Promise<boolean> {
  return look(path).then(
    () => true,
    () => false,
  );
}
