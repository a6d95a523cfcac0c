import { time } from '../../shared/seams/time.ts';

/** How often an execution that waits for a slot looks again. */
const LOOK_AGAIN_MS = 20;

/** The counters that an execution occupies, and under which name. */
type Counted = readonly (readonly [counts: Map<string, number>, name: string])[];

const ofKey = (directory: string, key: string): string => `${key} ${directory}`;

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

/** An execution, and the key that it was asked for with; null where none is needed. */
type Whose = { mockId: string; key: string | null };

/**
 * A key has at most this many times as many places at a client as are free there. So there is always a place for a key that has none: one
 * key gets three quarters of all, the next one three quarters of what is left (Choudhury and Hahne's dynamic thresholds).
 */
const TIMES_THE_FREE = 3;

/**
 * Bounds how many executions are open at one client, so that one that never answers does not collect everybody's calls. An execution has
 * one place in all: first at the client that was chosen for it, then its slot there, which it keeps until it is released.
 */
export function createClientSlots({ limit, waitingLimit, othersIn }: Options) {
  const places = new Map<string, Counted>();
  const takenByKey = new Map<string, number>();
  const [taken, chosen, waiting] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const inUse = (directory: string) => (taken.get(directory) ?? 0) + othersIn(directory);

  function release(mockId: string): void {
    for (const [counts, name] of places.get(mockId) ?? []) add(counts, name, -1);
    places.delete(mockId);
  }

  function place(mockId: string, counted: Counted): void {
    release(mockId);
    for (const [counts, name] of counted) add(counts, name, 1);
    places.set(mockId, counted);
  }

  function take({ mockId, key }: Whose, directory: string): void {
    place(mockId, [[taken, directory], ...(key === null ? [] : [[takenByKey, ofKey(directory, key)] as const])]);
  }

  function hasRoom(directory: string, { key }: Whose): boolean {
    const free = limit - inUse(directory);
    if (key === null) return free > 0;
    return (takenByKey.get(ofKey(directory, key)) ?? 0) < TIMES_THE_FREE * free;
  }

  return {
    inUse,
    /** How many executions a client has or is about to get. Calls that come at the same moment are spread by this number. */
    load: (directory: string) => inUse(directory) + (chosen.get(directory) ?? 0),
    /** Those of them that are this worker's: exact at any moment. */
    ownLoad: (directory: string) => (taken.get(directory) ?? 0) + (chosen.get(directory) ?? 0),
    /** A client was chosen for an execution, and counts as busier from now on. */
    choose: (mockId: string, directory: string): void => place(mockId, [[chosen, directory]]),
    /** Takes a slot, waiting for one. `none`: there was none in time; `crowded`: too many wait for one already. */
    async acquire(
      execution: Whose,
      directory: string,
      { deadline, goOn }: Until,
    ): Promise<'taken' | 'none' | 'crowded'> {
      if (!hasRoom(directory, execution) && (waiting.get(directory) ?? 0) >= waitingLimit) return 'crowded';
      // A clock that is set back does not make it wait for longer.
      const giveUpAt = time.monotonic() + deadline - time.now();
      add(waiting, directory, 1);
      try {
        while (!hasRoom(directory, execution)) {
          if (time.monotonic() >= giveUpAt || !goOn()) return 'none';
          await time.pause(LOOK_AGAIN_MS);
        }
      } finally {
        add(waiting, directory, -1);
      }
      take(execution, directory);
      return 'taken';
    },
    /** Takes a slot whatever the limit says: an execution that was dispatched already is open in any case. */
    occupy: (execution: Whose, directory: string): void => take(execution, directory),
    /** An execution is over here. */
    release,
  };
}

function add(counts: Map<string, number>, directory: string, change: number): void {
  const count = (counts.get(directory) ?? 0) + change;
  if (count > 0) counts.set(directory, count);
  else counts.delete(directory);
}
