import { every } from '../../../shared/runtime/periodic.ts';
import type { Logger } from '../../../shared/runtime/telemetry/logger.ts';
import { time } from '../../../shared/seams/time.ts';
import { openEvents } from './directory-events.ts';
import { createLooks } from './directory-looks.ts';
import {
  type Directory,
  isOwn,
  type Listener,
  newlyWatched,
  noteEnd,
  othersIn,
  type Watched,
} from './watched-directory.ts';

/** A directory stays watched this long after its last execution: the next one often follows. */
const KEEP_IDLE_MS = 10 * 60_000;
const FORGET_EVERY_MS = 10_000;

export type ResultWatcher = ReturnType<typeof createResultWatcher>;

/**
 * Events of the directories with open executions, and looks into each (see `look-schedule.ts`). Events
 * are hints that make answers quick; the looks are what never misses one (network file systems report no events).
 */
export function createResultWatcher({ pollIntervalMs, log }: { pollIntervalMs: number; log: Logger }) {
  const directories = new Map<string, Watched>();
  const events = openEvents(pollIntervalMs, log);
  const looks = createLooks(pollIntervalMs, events.rearm, log);
  const forgetting = every(FORGET_EVERY_MS, forgetIdle, () => {});

  function forgetIdle(): void {
    for (const { directory, listeners, idleSince } of directories.values()) {
      if (listeners.size > 0 || time.now() - idleSince <= KEEP_IDLE_MS) continue;
      directories.delete(directory);
      void events.drop(directory);
    }
  }

  function add(watchable: Directory): Watched {
    const watched = newlyWatched(watchable);
    directories.set(watchable.directory, watched);
    events.add(watched);
    return watched;
  }

  return {
    /** Calls `tell` with everything noticed about one execution until the returned function is called. */
    watch(watchable: Directory, mockId: string, tell: Listener): () => void {
      const watched = directories.get(watchable.directory) ?? add(watchable);
      watched.registration = watchable.registration; // the client may have come back in another lane
      if (watched.listeners.size === 0) watched.listeningSince = time.now();
      const since = time.monotonic();
      const waiting = { tell, since, lookAt: since };
      watched.listeners.set(mockId, waiting);
      watched.youngestAt = since;
      looks.plan(watched);
      return () => {
        if (watched.listeners.get(mockId) === waiting) noteEnd(watched, mockId);
        watched.idleSince = time.now();
      };
    },
    othersIn: (directory: string): number => othersIn(directories.get(directory)),
    /** Whether an execution is this worker's, or was until a moment ago. */
    isOwn: (directory: string, mockId: string): boolean => isOwn(directories.get(directory), mockId),
    noticing: () => noticingIn(directories.values(), looks),
    async close(): Promise<void> {
      await forgetting.stop();
      for (const { next } of directories.values()) time.clearTimeout(next?.timer);
      directories.clear();
      await events.close();
    },
  };
}

/** How answers are noticed: in how many directories with open executions by event, and in how many by listing. */
export type Noticing = {
  event: number;
  listing: number;
  /** How long the slowest of their last listings took. */
  listingMs: number;
  /** How many times longer the gaps between listings are than wanted, because all of them together take too long. */
  stretch: number;
  /** The share of the last 10 s that looks took. */
  share: number;
};

function noticingIn(directories: Iterable<Watched>, { stretch, share }: ReturnType<typeof createLooks>): Noticing {
  const open = [...directories].filter(({ listeners }) => listeners.size > 0);
  const event = open.filter(({ eventsArrive }) => eventsArrive).length;
  const listingMs = Math.max(0, ...open.map(({ lastTookMs }) => lastTookMs));
  return { event, listing: open.length - event, listingMs, stretch: stretch(), share: share() };
}
