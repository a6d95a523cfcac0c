import { type NoAnswer, noAnswer } from '../../shared/contract/endings/outcomes.ts';
import { addUp, type Calls, type TellArrivals } from '../../shared/queue/arrivals.ts';
import type { Backlog } from '../../shared/queue/backlog.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import { random } from '../../shared/seams/random.ts';
import { time } from '../../shared/seams/time.ts';

/** Shares of QUEUE_TIMEOUT_MS: behind a shorter wait every call is taken, behind a longer one none. In between, some are. */
const ALL_TAKEN = 0.1;
const NONE_TAKEN = 0.3;
/** The calls of each key are counted over this time, for the next. */
const COUNTED_OVER_MS = 250;

export type Overload = ReturnType<typeof createOverload>;

type OverloadDependencies = {
  backlog: Backlog;
  tellArrivals: TellArrivals;
  settings: Pick<Settings, 'QUEUE_TIMEOUT_MS'>;
};

/**
 * Refuses calls before they cost anything, when more come than workers can begin: the longer a new call would wait, the more are refused.
 * Keys share what can be done, by what they ask for at all APIs together: a key that asks for less than its share is not refused.
 */
export function createOverload({ backlog, tellArrivals, settings }: OverloadDependencies) {
  const arrivals = countArrivals(async (here) => (backlog.delayMs() > 0 ? tellArrivals(here) : new Map()));
  const from = ALL_TAKEN * settings.QUEUE_TIMEOUT_MS;
  const until = NONE_TAKEN * settings.QUEUE_TIMEOUT_MS;

  return {
    /** A call of this key arrived: the reason to refuse it, if there is one. To be asked once for each call. */
    refusal(keyName: string | null): { noAnswer: NoAnswer; retryAfterSeconds: number } | undefined {
      arrivals.add(keyName);
      const delayMs = backlog.delayMs();
      const taken = Math.max(0, Math.min(1, (until - delayMs) / (until - from)));
      if (random.fraction() < arrivals.shareTaken(keyName, taken)) return undefined;
      const seconds = Math.max(1, Math.ceil(delayMs / 1000));
      return { noAnswer: noAnswer('too-many-calls', { seconds }), retryAfterSeconds: seconds };
    },
  };
}

/** Counts calls by key, and says which share of a key's calls is taken when a share of all calls is. */
function countArrivals(tell: TellArrivals) {
  let counts = new Map<string | null, number>();
  const nobody: Calls = new Map();
  /** In the last window. */
  let [before, elsewhere, everywhere] = [nobody, nobody, nobody];
  let since = Number.NEGATIVE_INFINITY;

  function know(here: Calls, others: Calls): void {
    [before, elsewhere] = [here, others];
    everywhere = addUp([...here, ...others]);
  }

  return {
    add(keyName: string | null): void {
      const now = time.monotonic();
      if (now - since >= COUNTED_OVER_MS) {
        know(now - since < 2 * COUNTED_OVER_MS ? counts : nobody, elsewhere);
        counts = new Map();
        since = now;
        void tell(before).then(
          (others) => know(before, others),
          () => know(before, nobody), // then this API shares alone
        );
      }
      counts.set(keyName, (counts.get(keyName) ?? 0) + 1);
    },
    shareTaken(keyName: string | null, taken: number): number {
      if (taken === 1) return 1;
      // A key that made no call in the last window is counted by its calls in this one.
      const own = everywhere.get(keyName) ?? counts.get(keyName) ?? 1;
      const all = everywhere.has(keyName) ? [...everywhere.values()] : [...everywhere.values(), own];
      return Math.min(1, fairLevel(all, taken) / own);
    },
  };
}

/** The number of calls up to which each key is served, so that together a share of all calls is (max-min fairness). */
function fairLevel(counts: readonly number[], share: number): number {
  let left = share * counts.reduce((sum, count) => sum + count, 0);
  let keys = counts.length;
  for (const count of counts.toSorted((one, other) => one - other)) {
    if (count * keys >= left) break;
    left -= count;
    keys--;
  }
  return keys === 0 ? Number.POSITIVE_INFINITY : left / keys;
}
