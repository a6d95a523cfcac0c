import { join } from 'node:path';
import { time } from '../../shared/ports/time.ts';
import type { Skipped } from '../../shared/rules/entries.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { isSegment } from '../files/file-names.ts';
import { lstat } from '../files/file-system.ts';
import type { Entry } from '../files/ports/operations.ts';
import { readBoundedFile } from '../files/reading/bounded-file.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import { entriesIn } from '../files/reading/folder-entries.ts';
import { type Client, directoryNameOf } from './client.ts';
import { type LeavesOf, NO_LEAVES } from './published-leaves.ts';
import { type HeartbeatFile, parseHeartbeat, parseRegistration, type RegistrationFile } from './registration.ts';

const MAX_REGISTRATION_BYTES = 8 * 1024 * 1024;
const MAX_ENTRIES = 50_000;
const MAX_LANES = 1000;
const MAX_SKIPPED = 100;
const REGISTRATION = /^m_(.+)\.json$/;

/** The registered clients of an app, the files that were passed over, and every directory name a file claims. */
type Registered = { clients: Client[]; skipped: Skipped[]; claimed: ReadonlySet<string> };

const UNFIT_NAME = 'has a name that is too long or contains a character that cannot be seen';

type RegistrationPlace = { folder: string; lane: string | null; name: string };
type Parsed = { stamp: string; registration: RegistrationFile | null; reason: string | null };

/**
 * Reads the registrations and heartbeats of one app, on the trunk and in lanes. Files that did not change are not read again.
 */
export function createRegisteredClients({ app, leavesOf, clientTimeoutMs }: Options) {
  let known: Known = { registrations: new Map(), beats: new Map() };

  /** `root`: a real directory. `clockAheadMs`: how far its file system's clock is ahead of ours. */
  return async function readRegistered(root: string, clockAheadMs: number): Promise<Registered> {
    const skipped: Skipped[] = [];
    const skip = (file: string, reason: string) =>
      void (skipped.length < MAX_SKIPPED && skipped.push({ file, reason }));
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
      const reason = registration ? unfit(registration, app, name) : parsed.reason;
      if (!registration || reason !== null) return skip(path.slice(root.length + 1), reason ?? '') ?? null;
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
  const reason = text.kind === 'unusable' ? text.reason : 'is not a registration';
  return { stamp, registration, reason: registration ? null : reason };
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
async function findPlaces(root: string, skip: (file: string, reason: string) => void): Promise<RegistrationPlace[]> {
  const folders: { folder: string; lane: string | null }[] = [{ folder: root, lane: null }];
  const lanesPath = join(root, 'lane');
  if (await isFolder(lanesPath)) {
    const named = (await entriesOf(lanesPath)).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
    const lanes = named.filter(({ name }) => isSegment(name));
    for (const { name } of named.filter(({ name }) => !isSegment(name))) skip(`lane/${name}`, UNFIT_NAME);
    if (lanes.length > MAX_LANES) skip('lane', `has more than ${MAX_LANES} lanes: the rest was not read`);
    folders.push(...lanes.slice(0, MAX_LANES).map(({ name: lane }) => ({ folder: join(lanesPath, lane), lane })));
  }
  const places: RegistrationPlace[] = [];
  for (const { folder, lane } of folders) {
    for (const entry of await entriesOf(folder)) {
      const name = REGISTRATION.exec(entry.name)?.[1];
      if (name === undefined) continue;
      if (entry.isFile()) places.push({ folder, lane, name });
      else skip(join(folder, entry.name).slice(root.length + 1), entry.isSymbolicLink() ? 'is a link' : 'is no file');
    }
  }
  return places;
}

function unfit(registration: RegistrationFile, app: number, name: string): string | null {
  if (registration.app !== app) return `says that it is of app ${registration.app}`;
  const directoryName = directoryNameOf(registration);
  if (name !== directoryName) return `is not named after its address: m_${directoryName}.json`;
  if (!isSegment(name))
    return 'has an address that is too long, or contains a slash or a character that cannot be seen';
  return null;
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() ?? false;
}

/** At most so many, so that a folder full of files does not fill the memory of a worker. */
export async function entriesOf(path: string): Promise<Entry[]> {
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
