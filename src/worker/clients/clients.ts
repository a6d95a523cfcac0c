import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { time } from '../../shared/ports/time.ts';
import { type Fault, fault } from '../../shared/reasons/causes.ts';
import type { Skipped } from '../../shared/rules/entries.ts';
import { POLL_MS } from '../../shared/runtime/async.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { isRealDirectory } from '../files/client-directory.ts';
import {
  appsIn,
  clientsDirectory,
  directoryOfClient,
  isPlainName,
  isSegment,
  MADE_BY_US,
  mockDirectory,
  registrationPath,
} from '../files/file-names.ts';
import { entriesIn, exists, lstat, lstatCached, readBoundedFile } from '../files/file-system.ts';
import { readdir } from '../files/ports/files.ts';
import type { Entry } from '../files/ports/operations.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import { createJoinedReads } from '../files/reading/joined-reads.ts';
import type { FileClock, SharedDirectory } from '../files/shared-directory.ts';
import { isRealFolder } from '../rules/folder-listing.ts';
import { type Client, directoryNameOf, directoryOnly } from './client.ts';
import type { PickUps } from './pick-ups.ts';
import {
  createPublishedLeaves,
  type HeartbeatFile,
  type LeavesOf,
  NO_LEAVES,
  parseHeartbeat,
  parseRegistration,
  type RegistrationFile,
} from './registration.ts';

/** A listing of the last poll is as good as new; one a little older still answers, while a new one is being made. */
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
    if (last && age < notOlder(POLL_MS, GOOD_FOR_LISTINGS)) return last.roster;
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
    isStillThere: (client: Client): Promise<boolean> => isStillThere(sharedDir, client),
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
  const names = await Promise.all(folders.map(async (folder) => ((await isRealFolder(folder)) ? readdir(folder) : [])));
  return [...new Set(appsIn(names.flat()))];
}

/** A registration is there for as long as its client lives; of a client that is only a directory, that is. */
function isStillThere(sharedDir: string, client: Client): Promise<boolean> {
  const path = client.registered ? registrationPath(sharedDir, client) : directoryOfClient(sharedDir, client);
  return lstatCached(path).then(
    () => true,
    () => false,
  );
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
    const ours = await mapInBulk(names, (name) => exists(join(path, name, MADE_BY_US)).catch(() => false));
    return names.filter((_, at) => !ours[at]).map((name) => directoryOnly(app, name));
  };
}

const noneRegistered = { clients: [], skipped: [], claimed: new Set<string>() };

// The registrations of one app.

const MAX_REGISTRATION_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 50_000;
const MAX_LANES = 1000;
const MAX_SKIPPED = 100;
const REGISTRATION = /^m_(.+)\.json$/;

/** The registered clients of an app, the files that were passed over, and every directory name a file claims. */
type Registered = { clients: Client[]; skipped: Skipped[]; claimed: ReadonlySet<string> };

type RegistrationPlace = { folder: string; lane: string | null; name: string };
type Parsed = { stamp: string; registration: RegistrationFile | null; fault: Fault | null };

/**
 * Reads the registrations and heartbeats of one app, on the trunk and in lanes. Files that did not change are not read again.
 */
function createRegisteredClients({ app, leavesOf, clientTimeoutMs }: Options) {
  let known: Known = { registrations: new Map(), beats: new Map() };

  /** `root`: a real directory. `clockAheadMs`: how far its file system's clock is ahead of ours. */
  return async function readRegistered(root: string, clockAheadMs: number): Promise<Registered> {
    const skipped: Skipped[] = [];
    const skip = (file: string, found: Fault) =>
      void (skipped.length < MAX_SKIPPED && skipped.push({ file, fault: found }));
    const places = await findPlaces(root, skip);
    const seen: Known = { registrations: new Map(), beats: new Map() };
    const found = await mapInBulk(places, readPlace);
    known = seen; // A client has a new address with each start: forget those that are gone
    return {
      clients: found.filter((client) => client !== null),
      skipped,
      claimed: new Set(places.map(({ name }) => name)),
    };

    async function readPlace({ folder, lane, name }: RegistrationPlace): Promise<Client | null> {
      const path = join(folder, `m_${name}.json`);
      const parsed = await readRegistration(path, known.registrations.get(path), leavesOf);
      if (!parsed) return null;
      seen.registrations.set(path, parsed);
      const { registration } = parsed;
      const found = registration ? unfit(registration, app, name) : parsed.fault;
      if (found !== null) skip(path.slice(root.length + 1), found);
      if (!registration || found !== null) return null;
      const beatPath = join(folder, `b_${name}.json`);
      const beat = await readBeat(beatPath, known.beats.get(beatPath));
      if (beat) seen.beats.set(beatPath, beat);
      const isOnline = () => beat !== null && isFresh(beat, { clockAheadMs, clientTimeoutMs });
      return toClient(registration, { lane, name, beat, clockAheadMs, isOnline });
    }
  };
}

/** The content of each file, by its path. */
type Known = { registrations: Map<string, Parsed>; beats: Map<string, Beat> };
type Options = { app: number; leavesOf: LeavesOf; clientTimeoutMs: number };

async function readRegistration(path: string, known: Parsed | undefined, leavesOf: LeavesOf): Promise<Parsed | null> {
  const stats = await lstat(path).catch(unless('ENOENT', 'ENOTDIR'));
  if (!stats) return null;
  const stamp = `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
  if (known?.stamp === stamp) return known;
  const text = await readBoundedFile(path, MAX_REGISTRATION_BYTES);
  if (text.kind === 'absent') return null;
  const registration = text.kind === 'found' ? parseRegistration(text.value, leavesOf) : null;
  // A file that is written in place is incomplete for a moment: until then the last complete one counts.
  if (!registration && known?.registration) return { ...known, stamp };
  const found = text.kind === 'unusable' ? text.fault : fault('no-registration', {});
  return { stamp, registration, fault: registration ? null : found };
}

type As = { lane: string | null; name: string; beat: Beat | null; clockAheadMs: number; isOnline: () => boolean };

function toClient(
  { app, address, dialect, sdk, dryRun, leafNodes, loadedVersion }: RegistrationFile,
  { lane, name, beat, clockAheadMs, isOnline }: As,
): Client {
  return {
    ...{ app, address, lane, dialect, sdk, dryRun },
    registered: true,
    // A listing is kept for a moment; a client that has fallen silent since is offline in it.
    get online() {
      return isOnline();
    },
    directoryName: name,
    lastHeartbeat: beat?.lastHeartbeat ?? 0,
    beatAt: beat ? beat.mtimeMs - clockAheadMs : 0,
    loadedVersion: beat?.loadedVersion ?? loadedVersion,
    leafNodes: leafNodes ?? NO_LEAVES,
  };
}

/** The folders with registrations. Links are not followed, so nothing outside the shared directory is read. */
async function findPlaces(root: string, skip: (file: string, found: Fault) => void): Promise<RegistrationPlace[]> {
  const folders: { folder: string; lane: string | null }[] = [{ folder: root, lane: null }];
  const lanesPath = join(root, 'lane');
  if (await isRealFolder(lanesPath)) {
    const named = (await entriesOf(lanesPath)).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    const lanes = named.filter(({ name }) => isSegment(name));
    for (const { name } of named.filter(({ name }) => !isSegment(name))) skip(`lane/${name}`, fault('unfit-lane', {}));
    if (lanes.length > MAX_LANES) skip('lane', fault('too-many-lanes', { most: MAX_LANES }));
    folders.push(...lanes.slice(0, MAX_LANES).map(({ name: lane }) => ({ folder: join(lanesPath, lane), lane })));
  }
  const places: RegistrationPlace[] = [];
  for (const { folder, lane } of folders) {
    for (const entry of await entriesOf(folder)) {
      const name = REGISTRATION.exec(entry.name)?.[1];
      if (name === undefined) continue;
      if (entry.isFile()) places.push({ folder, lane, name });
      else
        skip(join(folder, entry.name).slice(root.length + 1), fault(entry.isSymbolicLink() ? 'link' : 'no-file', {}));
    }
  }
  return places;
}

function unfit(registration: RegistrationFile, app: number, name: string): Fault | null {
  if (registration.app !== app) return fault('of-other-app', { other: registration.app });
  const directoryName = directoryNameOf(registration);
  if (name !== directoryName) return fault('misnamed-registration', { name: directoryName });
  return isSegment(name) ? null : fault('unfit-address', {});
}

/** At most so many, so that a folder full of files does not fill the memory of a worker. */
async function entriesOf(path: string): Promise<Entry[]> {
  const entries: Entry[] = [];
  const folder = await entriesIn(path).catch(unless('ENOENT', 'ENOTDIR'));
  for await (const entry of folder ?? []) {
    entries.push(entry);
    if (entries.length >= MAX_ENTRIES) break;
  }
  return entries;
}

const MAX_HEARTBEAT_BYTES = 64 * 1024;

/** `changedAt`: when a heartbeat was first seen to differ from the one before, epoch ms; 0 when it never did. */
type Beat = HeartbeatFile & { mtimeMs: number; changedAt: number };

/** Reads a heartbeat unless its file is the `known` one; while a new one cannot be read, the known one counts. */
async function readBeat(path: string, known: Beat | undefined): Promise<Beat | null> {
  const stats = await lstat(path).catch(unless('ENOENT', 'ENOTDIR'));
  if (!stats) return null;
  if (known?.mtimeMs === stats.mtimeMs) return known;
  const text = await readBoundedFile(path, MAX_HEARTBEAT_BYTES);
  const parsed = text.kind === 'found' ? parseHeartbeat(text.value) : null;
  if (!parsed) return known ?? null;
  return { ...parsed, mtimeMs: stats.mtimeMs, changedAt: known ? time.now() : 0 };
}

type Times = { clockAheadMs: number; clientTimeoutMs: number };

/** Fresh by the client's clock and by the file system's. When they disagree, one of them is wrong, and only a beat that was seen to change counts. */
function isFresh({ lastHeartbeat, mtimeMs, changedAt }: Beat, { clockAheadMs, clientTimeoutMs }: Times): boolean {
  const now = time.now();
  const byItsClock = Math.abs(now - lastHeartbeat) < clientTimeoutMs;
  const byFileTime = now + clockAheadMs - mtimeMs < clientTimeoutMs;
  return byItsClock === byFileTime ? byItsClock : now - changedAt < clientTimeoutMs;
}
