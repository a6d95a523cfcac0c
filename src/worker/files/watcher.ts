import { lstat, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { watch } from 'chokidar';
import { atMost } from '../../shared/runtime/at-most.ts';
import { errnoOf, unless } from '../../shared/runtime/errno.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { every } from '../../shared/runtime/periodic.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
import { inDirectory } from './directory-limit.ts';
import { openExecutionOf, readFileName, resultFileName } from './file-names.ts';
import { createListingSchedule, type Pace } from './listing-schedule.ts';
import { namesIn } from './real-directory.ts';

/**
 * The content of a directory at one look. `names`: null when there is no such directory. `registered`: false when its
 * client had a registration and has none any more.
 */
export type Listing = { kind: 'listing'; names: ReadonlySet<string> | null; registered: boolean };

/** What was noticed about one execution's files: an event, which is a hint, or a listing, which is certain. */
export type Sighting = { kind: 'request-event' } | { kind: 'result-event' } | Listing;
type Listener = (sighting: Sighting) => void;

/** A client's directory, and the registration it has as long as it lives; null for one that is only a directory. */
type Directory = { directory: string; registration: string | null };

type Watched = Directory &
  Pace & {
    listeners: Map<string, Listener>;
    idleSince: number;
    missing: boolean;
    /** Executions of other workers, as of the last listing. */
    others: number;
    /** Executions of this worker that ended, and when (`performance.now()`): their files may still be there. */
    ended: Map<string, number>;
    armedAt: number;
    listeningSince: number;
    heardAt: number;
    /** The next listing; null while none is planned. */
    next: { timer: NodeJS.Timeout; dueAt: number } | null;
    listing: boolean;
  };

/** A directory stays watched this long after its last execution: the next one often follows. */
const KEEP_IDLE_MS = 10 * 60_000;
const FORGET_EVERY_MS = 10_000;
const LISTINGS_AT_ONCE = 16;
/** The files of an execution that ended here are gone by then. */
const ENDED_KEPT_MS = 5000;
/** A listing that takes longer does not keep those of other directories waiting. */
const HANGS_AFTER_MS = 1000;
/** The dispatch itself is an event: a watch that heard nothing for this long is deaf. */
const DEAF_AFTER_MS = 5000;

export type ResultWatcher = ReturnType<typeof createResultWatcher>;

/**
 * One chokidar watcher over the directories with open executions, and listings of each (see `listing-schedule.ts`). Events
 * are hints that make answers quick; the listing is what never misses one (network file systems report no events).
 *
 * Only chokidar's raw events are used, with every file ignored: its own add and change events cost a listing of the
 * directory each, which a busy directory turns into a full core.
 */
export function createResultWatcher({ pollIntervalMs, log }: { pollIntervalMs: number; log: Logger }) {
  const directories = new Map<string, Watched>();
  const events = openEvents(directories, pollIntervalMs, log);
  const lists = createLists(pollIntervalMs, events.rearm, log);
  const forgetting = every(FORGET_EVERY_MS, forgetIdle, () => {});

  function forgetIdle(): void {
    for (const { directory, listeners, idleSince } of directories.values()) {
      if (listeners.size > 0 || Date.now() - idleSince <= KEEP_IDLE_MS) continue;
      directories.delete(directory);
      events.drop(directory);
    }
  }

  function add(watchable: Directory): Watched {
    const watched = newlyWatched(watchable);
    directories.set(watchable.directory, watched);
    events.add(watchable.directory);
    return watched;
  }

  return {
    /** Tells `listener` of everything noticed about one execution until the returned function is called. */
    watch(watchable: Directory, mockId: string, listener: Listener): () => void {
      const watched = directories.get(watchable.directory) ?? add(watchable);
      watched.registration = watchable.registration; // the client may have come back in another lane
      if (watched.listeners.size === 0) watched.listeningSince = Date.now();
      watched.listeners.set(mockId, listener);
      watched.youngestAt = performance.now();
      lists.plan(watched);
      return () => {
        if (watched.listeners.get(mockId) === listener) noteEnd(watched, mockId);
        watched.idleSince = Date.now();
      };
    },
    /** How many executions are open in a directory: ours now, and those of others as of the last listing. */
    openIn(directory: string): number {
      const watched = directories.get(directory);
      return watched ? watched.listeners.size + othersIn(watched) : 0;
    },
    /** How many executions of other workers are open in a directory, as of the last listing. */
    othersIn: (directory: string): number => othersIn(directories.get(directory)),
    /** Whether an execution is this worker's, or was until a moment ago. */
    isOwn(directory: string, mockId: string): boolean {
      const watched = directories.get(directory);
      return watched !== undefined && isOwn(watched, mockId);
    },
    /** How many directories with open executions have answers that come by event, and how many by listing. */
    noticing(): { event: number; listing: number } {
      const open = [...directories.values()].filter(({ listeners }) => listeners.size > 0);
      const event = open.filter(({ eventsArrive }) => eventsArrive).length;
      return { event, listing: open.length - event };
    },
    async close(): Promise<void> {
      await forgetting.stop();
      for (const { next } of directories.values()) clearTimeout(next?.timer);
      directories.clear();
      await events.close();
    },
  };
}

/** The raw events of the watched directories. */
function openEvents(directories: ReadonlyMap<string, Watched>, pollIntervalMs: number, log: Logger) {
  const alert = createThrottledAlert(log, 'Directories cannot be watched');
  const watcher = watch([], {
    depth: 0,
    ignoreInitial: false,
    atomic: false,
    followSymlinks: false,
    ignored: (path) => !directories.has(path),
  });
  watcher.on('raw', (_event, name, details) => {
    const watched = directories.get(watchedPath(details));
    if (watched && typeof name === 'string') noteEvent(watched, name);
  });
  watcher.on('error', (error) => {
    alert.begins(error, `answers are noticed by the listing each ${pollIntervalMs} ms instead (inotify limits?)`);
  });
  return {
    add: (directory: string) => void watcher.add(directory),
    drop: (directory: string) => void watcher.unwatch(directory),
    /** A directory that came back under the same name is another one: its watch is deaf. */
    rearm(watched: Watched): void {
      watched.armedAt = Date.now();
      watched.eventsArrive = false;
      watcher.unwatch(watched.directory);
      watcher.add(watched.directory);
    },
    close: () => watcher.close(),
  };
}

function noteEvent(watched: Watched, name: string): void {
  watched.heardAt = Date.now();
  const file = readFileName(name);
  if (!file) {
    if (name === basename(watched.directory)) watched.missing = true; // the directory itself went
    return;
  }
  const listener = watched.listeners.get(file.mockId);
  // Our own renames are announced on any file system: only a result proves that what clients do is announced, too.
  if (listener && file.kind === 'result') watched.eventsArrive = true;
  listener?.({ kind: `${file.kind}-event` });
}

/** The listings of the watched directories: each has one schedule for all its waits, and at most one under way. */
function createLists(pollIntervalMs: number, rearm: (watched: Watched) => void, log: Logger) {
  const schedule = createListingSchedule(pollIntervalMs);
  const limit = createConcurrencyLimit(LISTINGS_AT_ONCE);
  const alert = createThrottledAlert(log, 'A directory cannot be listed');

  /** Of two plans the earlier one counts, so that waits that keep coming do not put a listing off for ever. */
  function plan(watched: Watched): void {
    if (watched.listing) return;
    const gapMs = schedule.gapMs(watched);
    const dueAt = performance.now() + gapMs;
    if (watched.next && watched.next.dueAt <= dueAt) return;
    clearTimeout(watched.next?.timer);
    const timer = setTimeout(() => {
      watched.next = null;
      if (watched.listeners.size > 0) run(watched);
    }, gapMs);
    watched.next = { timer, dueAt };
  }

  function run(watched: Watched): void {
    watched.listing = true;
    limit(() => atMost(HANGS_AFTER_MS, list(watched)));
  }

  async function list(watched: Watched): Promise<void> {
    const startedAt = performance.now();
    try {
      await tellListeners(watched, rearm);
      alert.ends();
    } catch (error) {
      alert.begins(error, 'it is tried again and again; is the file server there?');
    } finally {
      watched.lastTookMs = performance.now() - startedAt;
      schedule.took(watched.lastTookMs);
      watched.listing = false;
      plan(watched);
    }
  }

  return { plan };
}

async function tellListeners(watched: Watched, rearm: (watched: Watched) => void): Promise<void> {
  // A listener that is added while the directory is read is not told: its request may have come too late to be seen.
  const listeners = [...watched.listeners];
  const found = await inDirectory(watched.directory, () =>
    namesIn(watched.directory, readdir).catch(unless('ENOENT', 'ENOTDIR')),
  );
  if (found && (watched.missing || isDeaf(watched))) rearm(watched);
  watched.missing = found === undefined;
  watched.others = countOthers(watched, found ?? []);
  const names = found ? new Set(found) : null;
  const registered = watched.registration === null || (await isThere(watched.registration));
  for (const [mockId, listener] of listeners) {
    if (names && !watched.eventsArrive) await addIfThere(names, watched.directory, resultFileName(mockId));
    if (watched.listeners.get(mockId) === listener) listener({ kind: 'listing', names, registered });
  }
}

/** Some network file systems serve listings that are seconds old, while a look at the new name itself finds it. */
async function addIfThere(names: Set<string>, directory: string, name: string): Promise<void> {
  if (names.has(name)) return;
  const isThere = await inDirectory(directory, () =>
    lstat(join(directory, name)).then(
      () => true,
      () => false,
    ),
  );
  if (isThere) names.add(name);
}

/** If a directory is recreated quickly, chokidar drops the new watch with the old one. */
function isDeaf({ armedAt, listeningSince, heardAt }: Watched): boolean {
  return heardAt < listeningSince && Date.now() - Math.max(armedAt, listeningSince) > DEAF_AFTER_MS;
}

function newlyWatched(watchable: Directory): Watched {
  const now = Date.now();
  return {
    ...watchable,
    listeners: new Map(),
    idleSince: now,
    missing: false,
    others: 0,
    ended: new Map(),
    armedAt: now,
    listeningSince: 0,
    heardAt: 0,
    eventsArrive: false,
    youngestAt: performance.now(),
    lastTookMs: 0,
    next: null,
    listing: false,
  };
}

/** Executions of other workers that a listing shows: their request is still there, or their mark. */
function countOthers(watched: Watched, names: string[]): number {
  for (const [mockId, at] of watched.ended) {
    if (performance.now() - at < ENDED_KEPT_MS) break;
    watched.ended.delete(mockId);
  }
  const open = new Set(names.map(openExecutionOf).filter((mockId) => mockId !== undefined));
  return [...open].filter((mockId) => !isOwn(watched, mockId)).length;
}

function isOwn({ listeners, ended }: Watched, mockId: string): boolean {
  return listeners.has(mockId) || ended.has(mockId);
}

/** A directory without listeners is not listed any more. */
function othersIn(watched: Watched | undefined): number {
  return watched && watched.listeners.size > 0 ? watched.others : 0;
}

function noteEnd({ listeners, ended }: Watched, mockId: string): void {
  listeners.delete(mockId);
  ended.delete(mockId);
  ended.set(mockId, performance.now());
}

function watchedPath(details: unknown): string {
  return typeof details === 'object' && details !== null && 'watchedPath' in details ? String(details.watchedPath) : '';
}

/** Whether a registration is there; one that cannot be looked at is not gone. */
async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    (error) => !['ENOENT', 'ENOTDIR'].includes(errnoOf(error)),
  );
}
