import { lstat, readdir } from 'node:fs/promises';
import { basename } from 'node:path';
import { watch } from 'chokidar';
import { unless } from '../../shared/runtime/errno.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/periodic.ts';
import { openExecutionOf, readFileName } from './file-names.ts';

/**
 * What a periodic look at a directory found. `names`: null when there is no such directory. `registered`: false when its
 * client had a registration and has none any more.
 */
export type Listing = { kind: 'listing'; names: ReadonlySet<string> | null; registered: boolean };

/** What was noticed about one execution's files: an event, which is a hint, or a listing, which is certain. */
export type Sighting = { kind: 'request-event' } | { kind: 'result-event' } | Listing;
type Listener = (sighting: Sighting) => void;
type Watched = {
  registration: string | null;
  listeners: Map<string, Listener>;
  idleSince: number;
  missing: boolean;
  open: number;
  armedAt: number;
  listeningSince: number;
  heardAt: number;
};

/** A client's directory, and the registration it has as long as it lives; null for one that is only a directory. */
type Directory = { directory: string; registration: string | null };

/** A directory stays watched this long after its last execution: the next one often follows. */
const KEEP_IDLE_MS = 10 * 60_000;
/** A new watch takes a moment to arm; until then these early listings stand in for its events. */
const EARLY_LISTINGS_MS = [10, 30, 100, 300];
const LISTINGS_AT_ONCE = 16;
/** The dispatch itself is an event: a watch that heard nothing for this long is deaf. */
const DEAF_AFTER_MS = 5000;

export type ResultWatcher = ReturnType<typeof createResultWatcher>;

/**
 * One chokidar watcher over the directories with open executions, and one listing of each per `pollIntervalMs`. Events
 * are hints that make answers quick; the listing is what never misses one (network file systems report no events).
 *
 * Only chokidar's raw events are used, with every file ignored: its own add and change events cost a listing of the
 * directory each, which a busy directory turns into a full core.
 */
export function createResultWatcher({ pollIntervalMs, log }: { pollIntervalMs: number; log: Logger }) {
  const directories = new Map<string, Watched>();
  const incident = createThrottledAlert(log, 'Directories cannot be watched');
  const watcher = watch([], {
    depth: 0,
    ignoreInitial: false,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => !directories.has(path),
  });
  watcher.on('raw', (_event, name, details) => {
    if (typeof name !== 'string') return;
    const directory = watchedPath(details);
    const file = readFileName(name);
    const watched = directories.get(directory);
    if (watched) watched.heardAt = Date.now();
    if (file) watched?.listeners.get(file.mockId)?.({ kind: `${file.kind}-event` });
    else if (watched && name === basename(directory)) watched.missing = true; // the directory itself went
  });
  watcher.on('error', (error) => {
    incident.begins(error, `answers are noticed by the listing each ${pollIntervalMs} ms instead (inotify limits?)`);
  });
  const sweep = every(pollIntervalMs, listAll, (error) => log.error({ err: error }, 'listing the directories failed'));

  async function listAll(): Promise<void> {
    const now = Date.now();
    const open: string[] = [];
    for (const [directory, { listeners, idleSince }] of directories) {
      if (listeners.size > 0) open.push(directory);
      else if (now - idleSince > KEEP_IDLE_MS) forget(directory);
    }
    const next = open.values();
    const lane = async () => {
      for (const directory of next) await list(directory);
    };
    await Promise.all(Array.from({ length: LISTINGS_AT_ONCE }, lane));
  }

  async function list(directory: string): Promise<void> {
    const watched = directories.get(directory);
    if (!watched) return;
    // Who begins to listen while the directory is read is not told: its request may have come too late to be seen.
    const listeners = [...watched.listeners.values()];
    const names = await readdir(directory).catch(unless('ENOENT', 'ENOTDIR'));
    if (names && (watched.missing || isDeaf(watched))) rearm(directory, watched);
    watched.missing = names === undefined;
    watched.open = countOpen(names ?? []);
    const registered = watched.registration === null || (await exists(watched.registration));
    const sighting: Listing = { kind: 'listing', names: names ? new Set(names) : null, registered };
    for (const listener of listeners) listener(sighting);
  }

  /** A directory that came back under the same name is another one: its watch is deaf. */
  function rearm(directory: string, watched: Watched): void {
    watched.armedAt = Date.now();
    watcher.unwatch(directory);
    watcher.add(directory);
  }

  /** When a directory comes back too early, the watch for it is dropped together with the old one. */
  function isDeaf({ armedAt, listeningSince, heardAt }: Watched): boolean {
    return heardAt < listeningSince && Date.now() - Math.max(armedAt, listeningSince) > DEAF_AFTER_MS;
  }

  function forget(directory: string): void {
    directories.delete(directory);
    watcher.unwatch(directory);
  }

  function add({ directory, registration }: Directory): Watched {
    const watched: Watched = {
      registration,
      listeners: new Map(),
      idleSince: Date.now(),
      missing: false,
      open: 0,
      armedAt: Date.now(),
      listeningSince: 0,
      heardAt: 0,
    };
    directories.set(directory, watched);
    watcher.add(directory);
    listEarly(directory);
    return watched;
  }

  function listEarly(directory: string): void {
    for (const afterMs of EARLY_LISTINGS_MS) setTimeout(() => list(directory).catch(() => {}), afterMs);
  }

  return {
    /** Tells `listener` of everything noticed about one execution until the returned function is called. */
    watch(watchable: Directory, mockId: string, listener: Listener): () => void {
      const watched = directories.get(watchable.directory) ?? add(watchable);
      watched.registration = watchable.registration; // the client may have come back in another lane
      if (watched.listeners.size === 0) watched.listeningSince = Date.now();
      watched.listeners.set(mockId, listener);
      if (watched.missing) listEarly(watchable.directory);
      return () => {
        if (watched.listeners.get(mockId) === listener) watched.listeners.delete(mockId);
        watched.idleSince = Date.now();
      };
    },
    /** How many executions are open in a directory: ours now, and everybody's as of the last listing. */
    openIn(directory: string): number {
      const watched = directories.get(directory);
      if (!watched || watched.listeners.size === 0) return 0; // a directory without listeners is not listed any more
      return Math.max(watched.listeners.size, watched.open);
    },
    async close(): Promise<void> {
      await sweep.stop();
      await watcher.close();
    },
  };
}

/** Executions of anybody that a listing shows: their request is still there, or their mark. */
function countOpen(names: string[]): number {
  return new Set(names.map(openExecutionOf).filter((mockId) => mockId !== undefined)).size;
}

function watchedPath(details: unknown): string {
  return typeof details === 'object' && details !== null && 'watchedPath' in details ? String(details.watchedPath) : '';
}

async function exists(path: string): Promise<boolean> {
  return (await lstat(path).catch(unless('ENOENT', 'ENOTDIR'))) !== undefined;
}
