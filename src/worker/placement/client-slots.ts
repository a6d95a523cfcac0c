import { time } from '../../shared/seams/time.ts';

/** How often an execution that waits for a slot looks again. */
const LOOK_AGAIN_MS = 20;

export type ClientSlots = ReturnType<typeof createClientSlots>;

type Options = {
  /** How many executions may be open at one client. */
  limit: number;
  /** How many may wait in this worker for a slot at one client; the others wait in the queue. */
  waitingLimit: number;
  /** How many executions of other workers are open at a client. */
  othersIn: (directory: string) => number;
};

/** When to stop waiting for a slot: at an epoch ms, or as soon as `goOn` says no. */
type Until = { deadline: number; goOn: () => boolean };

/**
 * Bounds how many executions are open at one client, so that one that never answers does not collect everybody's calls. An execution has
 * one place in all: first at the client that was chosen for it, then its slot there, which it keeps until it is released.
 */
export function createClientSlots({ limit, waitingLimit, othersIn }: Options) {
  const places = new Map<string, { counts: Map<string, number>; directory: string }>();
  const [taken, chosen, waiting] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const inUse = (directory: string) => (taken.get(directory) ?? 0) + othersIn(directory);

  function add(counts: Map<string, number>, directory: string, change: number): void {
    const count = (counts.get(directory) ?? 0) + change;
    if (count > 0) counts.set(directory, count);
    else counts.delete(directory);
  }

  function release(mockId: string): void {
    const place = places.get(mockId);
    if (place) add(place.counts, place.directory, -1);
    places.delete(mockId);
  }

  function place(mockId: string, directory: string, counts: Map<string, number>): void {
    release(mockId);
    add(counts, directory, 1);
    places.set(mockId, { counts, directory });
  }

  return {
    inUse,
    /** How many executions a client has or is about to get. Calls that come at the same moment are spread by this number. */
    load: (directory: string) => inUse(directory) + (chosen.get(directory) ?? 0),
    /** Those of them that are this worker's: exact at any moment. */
    ownLoad: (directory: string) => (taken.get(directory) ?? 0) + (chosen.get(directory) ?? 0),
    /** A client was chosen for an execution, and counts as busier from now on. */
    choose: (mockId: string, directory: string): void => place(mockId, directory, chosen),
    /** Takes a slot, waiting for one. `none`: there was none in time; `crowded`: too many wait for one already. */
    async acquire(mockId: string, directory: string, { deadline, goOn }: Until): Promise<'taken' | 'none' | 'crowded'> {
      if (inUse(directory) >= limit && (waiting.get(directory) ?? 0) >= waitingLimit) return 'crowded';
      // A clock that is set back does not make it wait for longer.
      const giveUpAt = time.monotonic() + deadline - time.now();
      add(waiting, directory, 1);
      try {
        while (inUse(directory) >= limit) {
          if (time.monotonic() >= giveUpAt || !goOn()) return 'none';
          await time.pause(LOOK_AGAIN_MS);
        }
      } finally {
        add(waiting, directory, -1);
      }
      place(mockId, directory, taken);
      return 'taken';
    },
    /** Takes a slot whatever the limit says: an execution that was dispatched already is open in any case. */
    occupy: (mockId: string, directory: string): void => place(mockId, directory, taken),
    /** An execution is over here. */
    release,
  };
}
