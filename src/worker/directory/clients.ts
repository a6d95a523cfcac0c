import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../../shared/errno.ts';
import { clientsDirectory, isPlainName, isSegment, mockDirectory } from '../channel/file-names.ts';
import { isRealDirectory, type SharedDirectory } from '../channel/shared-directory.ts';
import type { DialectName } from '../dialects/dialect.ts';
import { readBoundedFile } from './bounded-file.ts';
import { parseHeartbeat, parseRegistration, type RegistrationFile, type Sdk } from './registration.ts';

const MAX_REGISTRATION_BYTES = 8 * 1024 * 1024;
const MAX_HEARTBEAT_BYTES = 64 * 1024;
const SNAPSHOT_MS = 1000;

/** Somebody who runs rules: registered with a heartbeat, or just a directory under `mock/`. */
export type Client = {
  app: number;
  address: string;
  lane: string | null;
  registered: boolean;
  online: boolean;
  dialect: DialectName;
  sdk: Sdk;
  /** The name of its directory under `mock/{app}`. */
  directoryName: string;
  /** Epoch ms by its own clock; 0 for a client that is only a directory. */
  lastHeartbeat: number;
  loadedVersion: string | null;
  leafNodes: unknown[];
};

type Heartbeat = { lastHeartbeat: number; loadedVersion: string | null; mtimeMs: number; changedAt: number };
type Dependencies = { sharedDirectory: SharedDirectory; clientTimeoutMs: number };

export type Clients = ReturnType<typeof createClients>;

/**
 * Who is there, per app. A listing is remembered for a second; `fresh` looks again at once, so that a client made a
 * moment ago is never called unknown.
 */
export function createClients({ sharedDirectory, clientTimeoutMs }: Dependencies) {
  const { sharedDir } = sharedDirectory;
  const registrations = createFileCache((text) => parseRegistration(text), MAX_REGISTRATION_BYTES);
  const heartbeats = new Map<string, Heartbeat>();
  const snapshots = new Map<number, { at: number; clients: Promise<Client[]> }>();

  return {
    /** All clients of an app, offline ones too. */
    async list(app: number, { fresh = false } = {}): Promise<Client[]> {
      const known = snapshots.get(app);
      if (known && !fresh && Date.now() - known.at < SNAPSHOT_MS) return known.clients;
      const snapshot = { at: Date.now(), clients: readClients(app) };
      snapshots.set(app, snapshot);
      snapshot.clients.catch(() => snapshots.delete(app));
      return snapshot.clients;
    },
  };

  async function readClients(app: number): Promise<Client[]> {
    const root = clientsDirectory(sharedDir, app);
    if (!(await isRealDirectory(sharedDir, root))) return onlyDirectories(app, new Set());
    const lanes = await realSubdirectories(join(root, 'lane'));
    const clockAheadMs = await sharedDirectory.clockAheadMs();
    const folders = [{ path: root, lane: null }, ...lanes.map((lane) => ({ path: join(root, 'lane', lane), lane }))];
    const registered = (await Promise.all(folders.map((folder) => readFolder(app, folder, clockAheadMs)))).flat();
    const taken = new Set(registered.map(({ directoryName }) => directoryName));
    return [...registered, ...(await onlyDirectories(app, taken))];
  }

  async function onlyDirectories(app: number, taken: Set<string>): Promise<Client[]> {
    const path = mockDirectory(sharedDir, app);
    if (!(await isRealDirectory(sharedDir, path))) return [];
    const names = (await realSubdirectories(path)).filter((name) => isPlainName(name) && !taken.has(name));
    return names.map((name) => directoryOnly(app, name));
  }

  async function readFolder(
    app: number,
    { path, lane }: { path: string; lane: string | null },
    clockAheadMs: number,
  ): Promise<Client[]> {
    const names = (await entries(path))
      .filter((entry) => entry.isFile() && /^m_.+\.json$/.test(entry.name))
      .map(({ name }) => name);
    const found = await Promise.all(names.map((name) => readClient(app, { path, lane, name }, clockAheadMs)));
    return found.filter((client) => client !== null);
  }

  async function readClient(
    app: number,
    { path, lane, name }: { path: string; lane: string | null; name: string },
    clockAheadMs: number,
  ): Promise<Client | null> {
    const registration = await registrations.read(join(path, name));
    if (!registration || registration.app !== app) return null;
    const directoryName = directoryNameOf(registration);
    if (name !== `m_${directoryName}.json` || !isSegment(directoryName)) return null;
    const heartbeat = await readHeartbeat(join(path, `b_${directoryName}.json`));
    const { address, dialect, sdk, leafNodes } = registration;
    return {
      app,
      address,
      lane,
      registered: true,
      online: heartbeat !== null && isFresh(heartbeat, clockAheadMs),
      dialect,
      sdk,
      directoryName,
      lastHeartbeat: heartbeat?.lastHeartbeat ?? 0,
      loadedVersion: heartbeat?.loadedVersion ?? registration.loadedVersion,
      leafNodes,
    };
  }

  async function readHeartbeat(path: string): Promise<Heartbeat | null> {
    const stats = await lstat(path).catch(unless('ENOENT'));
    const known = heartbeats.get(path);
    if (!stats) {
      heartbeats.delete(path);
      return null;
    }
    if (known && known.mtimeMs === stats.mtimeMs) return known;
    const reading = await readBoundedFile(path, MAX_HEARTBEAT_BYTES);
    const parsed = reading.kind === 'found' ? parseHeartbeat(reading.value) : null;
    if (!parsed) return known ?? null; // half-written: the last good one still counts until it grows old
    const heartbeat = { ...parsed, mtimeMs: stats.mtimeMs, changedAt: known ? Date.now() : 0 };
    heartbeats.set(path, heartbeat);
    return heartbeat;
  }

  /** By the client's clock and by the file system's. When they disagree, one is wrong: only a beat seen to change counts. */
  function isFresh({ lastHeartbeat, mtimeMs, changedAt }: Heartbeat, clockAheadMs: number): boolean {
    const now = Date.now();
    const byItsClock = Math.abs(now - lastHeartbeat) < clientTimeoutMs;
    const byFileTime = now + clockAheadMs - mtimeMs < clientTimeoutMs;
    return byItsClock === byFileTime ? byItsClock : now - changedAt < clientTimeoutMs;
  }
}

/** The name a client's files and directory go by: the literal address, or for the published SDKs its safe form. */
export function directoryNameOf({ address, dialect }: Pick<RegistrationFile, 'address' | 'dialect'>): string {
  return dialect === 'ice' ? address.replace(/[:/]/g, '_') : address;
}

/** A client of which nothing is known but its directory. */
export function directoryOnly(app: number, name: string): Client {
  return {
    app,
    address: name,
    lane: null,
    registered: false,
    online: true,
    dialect: 'rule',
    sdk: 'unknown',
    directoryName: name,
    lastHeartbeat: 0,
    loadedVersion: null,
    leafNodes: [],
  };
}

/** Parsed files by path, read again when size, time or identity changed. */
function createFileCache<T>(parse: (text: string) => T | null, maxBytes: number) {
  const cache = new Map<string, { stamp: string; value: T | null }>();
  return {
    async read(path: string): Promise<T | null> {
      const stats = await lstat(path).catch(unless('ENOENT'));
      if (!stats) {
        cache.delete(path);
        return null;
      }
      const stamp = `${stats.ino}:${stats.size}:${stats.mtimeMs}`;
      const known = cache.get(path);
      if (known?.stamp === stamp) return known.value;
      const reading = await readBoundedFile(path, maxBytes);
      const value = reading.kind === 'found' ? parse(reading.value) : null;
      cache.set(path, { stamp, value });
      return value;
    },
  };
}

async function entries(path: string): Promise<Dirent[]> {
  return (await readdir(path, { withFileTypes: true }).catch(unless('ENOENT', 'ENOTDIR', 'ELOOP'))) ?? [];
}

async function realSubdirectories(path: string): Promise<string[]> {
  return (await entries(path)).filter((entry) => entry.isDirectory() && isSegment(entry.name)).map(({ name }) => name);
}
