import { type Timer, time } from '../../shared/ports/time.ts';
import { unless } from '../../shared/runtime/errno.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import { type ClientDirectory, directoryAt } from './client-directory.ts';
import { openExecutionOf, readFileName, resultFileName } from './file-names.ts';
import type { Watch } from './ports/operations.ts';
import { isRegistered } from './registration-file.ts';

/**
 * The content of a directory at one poll. `names`: null when there is no such directory. `registered`: false when the
 * registration that its client had is gone.
 */
export type Listing = { kind: 'listing'; names: ReadonlySet<string> | null; registered: boolean };

/** One sighting of an execution's files: an event, which is a hint, as its result that was found by its name is; or a listing. */
export type Sighting = { kind: 'request-event' | 'result-event' } | Listing;
export type Listener = (sighting: Sighting) => void;
/** A client's directory, and the registration it has as long as it lives; null for one that is only a directory. */
type Directory = { directory: string; registration: string | null };

/** One execution that waits for its result: who is told, since when, when its result is next looked for by its name, whether an event told of it. */
type Waiting = { tell: Listener; since: number; pollAt: number; isAnnounced: boolean };

type Watched = Directory &
  Pace & {
    files: ClientDirectory;
    watch: Watch | null;
    /** Since when events arrive, if they do; null while the watch is being set up, or where there is none. */
    armedAt: number | null;
    listeners: Map<string, Waiting>;
    /** How long the wait for the last result was that a poll found, in ms; null until there is one. */
    lastAnswerMs: number | null;
    idleSince: number;
    /** Executions of other workers, as of the last listing. */
    others: number;
    /** Executions of this worker that ended, and when: their files may still be there. */
    ended: Map<string, number>;
    listedAt: number;
    /** The next poll; null while none is planned. */
    next: { timer: Timer; dueAt: number } | null;
    looking: boolean;
  };

/** A directory stays watched this long after its last execution: the next one often follows. */
const KEEP_IDLE_MS = 10 * 60_000;
/** The files of an execution that ended are gone by then. */
export const ENDED_KEPT_MS = 5000;
/** Looks at this many names take about as long as one listing. */
const FEW = 8;
/** Names that are looked at together. */
const AT_ONCE = 4;

export type ResultWatcher = ReturnType<typeof createResultWatcher>;

/**
 * Watches the directories with open executions. Events are hints that make answers quick; the polls are what never misses one. A poll is a
 * listing, once per `pollIntervalMs`. Where no event arrives it also looks for the results by their names, because some network file systems
 * serve listings that are seconds old; and where few wait, that alone is the quicker poll.
 */
export function createResultWatcher({ pollIntervalMs, log }: { pollIntervalMs: number; log: Logger }) {
  const directories = new Map<string, Watched>();
  const schedule = createPollSchedule(pollIntervalMs);
  const { arm, disarm, rearmIfDeaf } = createWatches(pollIntervalMs, log);
  const plan = createPolling({ pollIntervalMs, schedule, rearmIfDeaf, log });

  function add(watchable: Directory): Watched {
    const watched = newlyWatched(watchable);
    directories.set(watchable.directory, watched);
    arm(watched);
    return watched;
  }

  return {
    /** Calls `tell` with everything noticed about one execution until the returned function is called. */
    watch(watchable: Directory, mockId: string, tell: Listener): () => void {
      const watched = directories.get(watchable.directory) ?? add(watchable);
      watched.registration = watchable.registration; // the client may have come back in another lane
      const since = time.monotonic();
      const waiting = { tell, since, pollAt: since, isAnnounced: false };
      watched.listeners.set(mockId, waiting);
      watched.youngestAt = since;
      plan(watched);
      return () => {
        if (watched.listeners.get(mockId) === waiting) noteEnd(watched, mockId);
        watched.idleSince = time.monotonic();
      };
    },
    othersIn: (directory: string): number => othersIn(directories.get(directory)),
    /** Whether an execution is this worker's, or was until a moment ago. */
    isOwn: (directory: string, mockId: string): boolean => isOwn(directories.get(directory), mockId),
    noticing: () => noticingIn(directories.values(), schedule),
    /** Lets go of directories in which nothing has been open for a while. */
    async forgetIdle(): Promise<void> {
      const idle = [...directories.values()].filter(isIdle);
      for (const { directory } of idle) directories.delete(directory);
      await Promise.all(idle.map(disarm));
    },
    async close(): Promise<void> {
      const all = [...directories.values()];
      directories.clear();
      for (const { next } of all) time.clearTimeout(next?.timer);
      await Promise.all(all.map(disarm));
    },
  };
}

/** Has one watch for each directory: a common one would go through all directories at every event. */
function createWatches(pollIntervalMs: number, log: Logger) {
  const alert = createThrottledAlert(log, 'Directories cannot be watched');

  function arm(watched: Watched): void {
    watched.armedAt = null;
    watched.eventsArrive = false;
    watched.watch = watched.files.watch({
      armed: () => {
        watched.armedAt = time.monotonic();
        // Results that came before were not told, and under load the next poll may be seconds away.
        for (const waiting of watched.listeners.values()) waiting.tell({ kind: 'result-event' });
      },
      event: (name) => noteEvent(watched, name),
      error: (error) =>
        alert.begins(error, `answers are noticed by the listing each ${pollIntervalMs} ms instead (inotify limits?)`),
    });
  }

  async function disarm(watched: Watched): Promise<void> {
    watched.armedAt = null;
    await watched.watch?.close();
  }

  return {
    arm,
    disarm,
    /** A directory that was made again under the same name is another one, and its watch is deaf. */
    rearmIfDeaf(watched: Watched, found: readonly Waiting[]): void {
      const { armedAt } = watched;
      if (armedAt === null || time.monotonic() - armedAt < pollIntervalMs) return;
      if (!found.some(({ isAnnounced, since }) => !isAnnounced && since >= armedAt)) return;
      void disarm(watched);
      arm(watched);
    },
  };
}

type Polling = {
  pollIntervalMs: number;
  schedule: ReturnType<typeof createPollSchedule>;
  rearmIfDeaf: (watched: Watched, found: readonly Waiting[]) => void;
  log: Logger;
};

/** Returns what plans the next poll into a directory: each has one schedule for all its waits, and at most one poll under way. */
function createPolling({ pollIntervalMs, schedule, rearmIfDeaf, log }: Polling) {
  const alert = createThrottledAlert(log, 'A directory cannot be listed');

  /** Keeps the earlier of two plans, so that waits that keep coming do not put a poll off for ever. */
  function plan(watched: Watched): void {
    if (watched.looking) return;
    const { ms, stretched } = schedule.gap(watched, nextDue(watched));
    const dueAt = time.monotonic() + ms;
    if (watched.next && watched.next.dueAt <= dueAt) return;
    time.clearTimeout(watched.next?.timer);
    const timer = time.setTimeout(() => {
      watched.next = null;
      if (watched.listeners.size > 0) void poll(watched, stretched);
    }, ms);
    watched.next = { timer, dueAt };
  }

  async function poll(watched: Watched, stretched: number): Promise<void> {
    let tookMs = 0;
    const unannounced: Waiting[] = [];
    watched.looking = true;
    try {
      if (isListingDue(watched, pollIntervalMs)) tookMs += await list(watched, unannounced);
      if (!watched.eventsArrive) tookMs += await pollByName(watched, schedule.allowedMs(watched), unannounced);
      alert.ends();
    } catch (error) {
      alert.begins(error, 'the worker tries again and again; is the file server there?');
    } finally {
      watched.polledAt = time.monotonic();
      watched.tookMs = [watched.tookMs[1], tookMs];
      schedule.took(tookMs, stretched);
      watched.looking = false;
      // Events that were on their way have come by then.
      if (unannounced.length > 0) time.setImmediate(() => rearmIfDeaf(watched, unannounced));
      plan(watched);
    }
  }

  return plan;
}

function newlyWatched(watchable: Directory): Watched {
  const now = time.monotonic();
  return {
    ...watchable,
    files: directoryAt(watchable.directory),
    watch: null,
    armedAt: null,
    listeners: new Map(),
    lastAnswerMs: null,
    idleSince: now,
    others: 0,
    ended: new Map(),
    eventsArrive: false,
    youngestAt: now,
    polledAt: now,
    tookMs: [0, 0],
    listedAt: Number.NEGATIVE_INFINITY,
    next: null,
    looking: false,
  };
}

// Events.

function noteEvent(watched: Watched, name: string): void {
  const file = readFileName(name);
  const waiting = file && watched.listeners.get(file.mockId);
  if (!waiting) return;
  // Our own renames are announced on any file system: only a result proves that what clients do is announced, too.
  if (file.kind === 'result') {
    watched.eventsArrive = true;
    waiting.isAnnounced = true;
  }
  waiting.tell({ kind: `${file.kind}-event` });
}

// Listings.

/** A listing is several trips over the network, and a poll by name is one. */
function isListingDue({ eventsArrive, listeners, listedAt }: Watched, pollIntervalMs: number): boolean {
  return eventsArrive || listeners.size > FEW || time.monotonic() - listedAt >= pollIntervalMs;
}

/** Lists a directory, tells its listeners, and resolves with how long that took, in ms. */
async function list(watched: Watched, unannounced: Waiting[]): Promise<number> {
  // A listener that is added while the directory is read is not told: its request may have come too late to be seen.
  const listeners = [...watched.listeners];
  const startedAt = time.monotonic();
  watched.listedAt = startedAt;
  const found = await watched.files.list().catch(unless('ENOENT', 'ENOTDIR'));
  watched.others = countOthers(watched, found ?? []);
  const names = found ? new Set(found) : null;
  const registered = watched.registration === null || (await isRegistered(watched.registration));
  const tookMs = time.monotonic() - startedAt;
  for (const [mockId, waiting] of listeners) {
    if (names?.has(resultFileName(mockId))) noteResult(watched, waiting, unannounced);
    if (watched.listeners.get(mockId) === waiting) waiting.tell({ kind: 'listing', names, registered });
  }
  return tookMs;
}

/** Executions of other workers that a listing shows: their request is still there, or their mark. */
function countOthers(watched: Watched, names: string[]): number {
  for (const [mockId, at] of watched.ended) {
    if (time.monotonic() - at < ENDED_KEPT_MS) break;
    watched.ended.delete(mockId);
  }
  const open = new Set(names.map(openExecutionOf).filter((mockId) => mockId !== undefined));
  return [...open].filter((mockId) => !isOwn(watched, mockId)).length;
}

/** Executions of other workers that are open in a directory. One without listeners is not listed any more. */
function othersIn(watched: Watched | undefined): number {
  return watched && watched.listeners.size > 0 ? watched.others : 0;
}

function isIdle({ listeners, idleSince }: Watched): boolean {
  return listeners.size === 0 && time.monotonic() - idleSince > KEEP_IDLE_MS;
}

function isOwn(watched: Watched | undefined, mockId: string): boolean {
  return watched !== undefined && (watched.listeners.has(mockId) || watched.ended.has(mockId));
}

function noteEnd({ listeners, ended }: Watched, mockId: string): void {
  listeners.delete(mockId);
  ended.delete(mockId);
  ended.set(mockId, time.monotonic());
}

// Polls by name.

/**
 * Looks for the results of the waits that are due, those first that are due for longest, until `allowedMs` are used up, but
 * at `FEW` at least. Tells who waits for one that is there. Resolves with how long it took, in ms.
 */
async function pollByName(watched: Watched, allowedMs: number, unannounced: Waiting[]): Promise<number> {
  const startedAt = time.monotonic();
  const due = [...watched.listeners].filter(([, { pollAt }]) => pollAt <= startedAt);
  due.sort(([, a], [, b]) => a.pollAt - b.pollAt);
  const left = due[Symbol.iterator]();
  let polls = 0;
  const pollDue = async () => {
    for (const [mockId, waiting] of left) {
      await checkResult(watched, mockId, waiting, unannounced);
      if (++polls >= FEW && time.monotonic() - startedAt > allowedMs) return;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, pollDue));
  return time.monotonic() - startedAt;
}

async function checkResult(watched: Watched, mockId: string, waiting: Waiting, unannounced: Waiting[]): Promise<void> {
  const { files, listeners } = watched;
  recordPoll(watched, waiting);
  const isThere = await files.has(resultFileName(mockId)).catch(() => false);
  if (!isThere || listeners.get(mockId) !== waiting) return;
  noteResult(watched, waiting, unannounced);
  waiting.tell({ kind: 'result-event' });
}

/** When the next of few results is due. Where many wait, a listing finds them, and going through all of them would take its time. */
function nextDue({ listeners }: Watched): number | null {
  return listeners.size > FEW ? null : Math.min(...[...listeners.values()].map(({ pollAt }) => pollAt));
}

function recordPoll({ lastAnswerMs }: Watched, waiting: Waiting): void {
  const now = time.monotonic();
  waiting.pollAt = now + gapOfWait(now - waiting.since, lastAnswerMs);
}

/** A poll found a result: the next one is expected to take as long, and this one is not looked for again at once. */
function noteResult(watched: Watched, waiting: Waiting, unannounced: Waiting[]): void {
  watched.lastAnswerMs = time.monotonic() - waiting.since;
  recordPoll(watched, waiting);
  if (!waiting.isAnnounced) unannounced.push(waiting);
}

/** How answers are noticed: in how many directories with open executions by event, and in how many by listing. */
export type Noticing = {
  event: number;
  listing: number;
  /** How long the slowest of their last listings took. */
  listingMs: number;
  /** How many times longer the gaps between listings are than wanted, because all of them together take too long. */
  stretch: number;
  /** The share of the last 10 s that polls took. */
  share: number;
};

function noticingIn(directories: Iterable<Watched>, schedule: ReturnType<typeof createPollSchedule>): Noticing {
  const open = [...directories].filter(({ listeners }) => listeners.size > 0);
  const event = open.filter(({ eventsArrive }) => eventsArrive).length;
  const listingMs = Math.max(0, ...open.map(({ tookMs }) => tookMs[1]));
  return { event, listing: open.length - event, listingMs, stretch: schedule.stretch(), share: schedule.share() };
}

// When directories are looked into.

/** Where no event arrives, the gap between two polls for a result is this share of the time its wait has been open. */
const SHARE_OF_WAIT = 0.1;
/** The same before the client is likely to answer, and while it is likely to. */
const SHARE_BEFORE = 0.2;
const SHARE_AROUND = 0.05;
const LEAST_GAP_MS = 5;
/** All polls of a worker together may take this share of its time, and those into one directory, too. */
const SHARE_OF_TIME = 0.1;
/** Beyond its share a directory is still looked into this often, and shares are averaged over as long. */
const LONGEST_GAP_MS = 10_000;

/** The measurements that decide when one directory is looked into next. Times are of a monotonic clock, in ms. */
type Pace = {
  /** Whether an event told of a result here: then polls only make up for lost events. */
  eventsArrive: boolean;
  /** When the youngest wait began. */
  youngestAt: number;
  /** When the last poll ended. */
  polledAt: number;
  /** How long the last two polls took. */
  tookMs: readonly [number, number];
};

/**
 * How long until the result of one wait is looked for again, in ms. `lastMs`: how long the wait for the client's last answer was.
 * A client often takes as long as the last time, so polls are few before that, and then many until twice that.
 */
export function gapOfWait(openMs: number, lastMs: number | null): number {
  if (lastMs === null || openMs > 2 * lastMs) return openMs * SHARE_OF_WAIT;
  const likelyInMs = lastMs * (1 - SHARE_AROUND) - openMs;
  return likelyInMs > 0 ? Math.min(openMs * SHARE_BEFORE, likelyInMs) : openMs * SHARE_AROUND;
}

/**
 * Says when directories are looked into next. Where no event arrives, as on a network file system, an answer is noticed within a
 * share of the time its rule took; where events arrive, once per `pollIntervalMs`. Polls take their share of
 * the worker's time and no more, unless gaps would grow beyond 10 s (or `pollIntervalMs`). Registrations are looked at otherwise: once a second when
 * somebody asks, at most 3 s late (`clients/clients.ts`). Rules are read again when `version.txt` changed, looked at each 500 ms
 * (`placement/inspections.ts`).
 */
export function createPollSchedule(pollIntervalMs: number, now: () => number = () => time.monotonic()) {
  const spent = createRecent(now);
  const wanted = createRecent(now);
  /** Beyond their share of the time all gaps grow: so many times as polls would take more than it in gaps as wanted. */
  const stretch = () => Math.max(1, wanted.share() / SHARE_OF_TIME);

  return {
    /** The share of the last 10 s that polls took. */
    share: spent.share,
    stretch,
    /** A poll took so long, after a gap that was stretched so many times. */
    took(ms: number, stretched: number): void {
      spent.add(ms);
      wanted.add(ms * stretched);
    },
    /** How long a poll may take by the time that has passed since the last one, in ms. */
    allowedMs: ({ polledAt }: Pick<Pace, 'polledAt'>): number => ((now() - polledAt) * SHARE_OF_TIME) / stretch(),
    /**
     * How long until the next poll, in ms, and how many times longer than it would be if polls took no more than their share.
     * `dueAt`: when the next of its results is looked for by its name; null where that is not known one by one.
     */
    gap(pace: Pace, dueAt: number | null): { ms: number; stretched: number } {
      const { eventsArrive, youngestAt, tookMs } = pace;
      const dueMs = dueAt === null ? gapOfWait(now() - youngestAt, null) : dueAt - now();
      const wanted = eventsArrive ? pollIntervalMs : Math.min(Math.max(dueMs, LEAST_GAP_MS), pollIntervalMs);
      // A poll that was held up once says nothing of the next.
      const own = Math.min(...tookMs) / SHARE_OF_TIME;
      const longest = Math.max(LONGEST_GAP_MS, pollIntervalMs);
      const unstretched = Math.min(Math.max(wanted, own), longest);
      const ms = Math.min(unstretched * stretch(), longest);
      return { ms, stretched: ms / unstretched };
    },
  };
}

/** A sum of times, each weighted less the longer ago it was added. */
function createRecent(now: () => number) {
  let sumMs = 0;
  let at = now();

  function decay(): number {
    const since = at;
    at = now();
    sumMs *= Math.exp((since - at) / LONGEST_GAP_MS);
    return sumMs;
  }

  return {
    share: () => decay() / LONGEST_GAP_MS,
    add(ms: number): void {
      sumMs = decay() + ms;
    },
  };
}
