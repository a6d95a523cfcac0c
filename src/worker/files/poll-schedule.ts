import { time } from '../../shared/ports/time.ts';

/** Where no event arrives, the gap between two polls for a result is this share of the time its wait has been open. */
const SHARE_OF_WAIT = 0.1;
/** The same before the client is likely to answer, and while it is likely to. */
const SHARE_BEFORE = 0.2;
const SHARE_AROUND = 0.05;
const LEAST_GAP_MS = 5;
/** All polls of a worker together may take this share of its time, and those into one directory, too. */
const SHARE_OF_TIME = 0.1;
const AVERAGED_OVER_MS = 10_000;
/** Beyond its share a directory is still looked into this often. */
const LONGEST_GAP_MS = 10_000;

/** The measurements that decide when one directory is looked into next. Times are of a monotonic clock, in ms. */
export type Pace = {
  /** Whether an event told of a result here: then polls only make up for lost events. */
  eventsArrive: boolean;
  /** When the youngest wait began. */
  youngestAt: number;
  /** When the last poll ended. */
  polledAt: number;
  /** How long the last poll took. */
  lastTookMs: number;
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
      const { eventsArrive, youngestAt, lastTookMs } = pace;
      const dueMs = dueAt === null ? gapOfWait(now() - youngestAt, null) : dueAt - now();
      const wanted = eventsArrive ? pollIntervalMs : Math.min(Math.max(dueMs, LEAST_GAP_MS), pollIntervalMs);
      const own = lastTookMs / SHARE_OF_TIME;
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
    sumMs *= Math.exp((since - at) / AVERAGED_OVER_MS);
    return sumMs;
  }

  return {
    share: () => decay() / AVERAGED_OVER_MS,
    add(ms: number): void {
      sumMs = decay() + ms;
    },
  };
}
