import { time } from '../../shared/ports/time.ts';

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

/** When to stop waiting for a slot: at an epoch ms, or as soon as `goOn` says no. `onWait`: there was none at once. */
type Until = { deadline: number; goOn: () => boolean; onWait?: () => void };

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
  const { taken, chosen, places } = createPlaces();
  const takenByKey = new Map<string, number>();
  const inUse = (directory: string) => (taken.get(directory) ?? 0) + othersIn(directory);
  const lines = createLines({ serve });

  function take({ mockId, key }: Whose, directory: string): void {
    places.put(mockId, [[taken, directory], ...(key === null ? [] : [[takenByKey, ofKey(directory, key)] as const])]);
  }

  function hasRoom(directory: string, { key }: Whose): boolean {
    const free = limit - inUse(directory);
    if (key === null) return free > 0;
    return (takenByKey.get(ofKey(directory, key)) ?? 0) < TIMES_THE_FREE * free;
  }

  /** Gives what is free to those who wait for it, in the order in which they came. */
  function serve(directory: string): void {
    for (const waiting of lines.of(directory)) {
      if (inUse(directory) >= limit) return;
      if (!hasRoom(directory, waiting.who)) continue;
      take(waiting.who, directory);
      lines.end(directory, waiting, 'taken');
    }
  }

  return {
    inUse,
    /** How many executions a client has or is about to get. Calls that come at the same moment are spread by this number. */
    load: (directory: string) => inUse(directory) + (chosen.get(directory) ?? 0),
    /** Those of them that are this worker's: exact at any moment. */
    ownLoad: (directory: string) => (taken.get(directory) ?? 0) + (chosen.get(directory) ?? 0),
    /** A client was chosen for an execution, and counts as busier from now on. */
    choose: (mockId: string, directory: string): void => places.put(mockId, [[chosen, directory]]),
    /** Takes a slot, waiting for one. `none`: there was none in time; `crowded`: too many wait for one already. */
    async acquire(
      execution: Whose,
      directory: string,
      { deadline, goOn, onWait }: Until,
    ): Promise<'taken' | 'none' | 'crowded'> {
      const isFree = hasRoom(directory, execution);
      if (!isFree && lines.of(directory).size >= waitingLimit) return 'crowded';
      if (isFree && lines.of(directory).size === 0) {
        take(execution, directory);
        return 'taken';
      }
      // A clock that is set back does not make it wait for longer.
      const giveUpAt = time.monotonic() + deadline - time.now();
      const ended = lines.wait(directory, execution, () => time.monotonic() >= giveUpAt || !goOn());
      serve(directory);
      onWait?.();
      return ended;
    },
    /** Takes a slot whatever the limit says: an execution that was dispatched already is open in any case. */
    occupy: (execution: Whose, directory: string): void => take(execution, directory),
    /** An execution is over here. */
    release(mockId: string): void {
      for (const [counts, name] of places.leave(mockId)) if (counts === taken) serve(name);
    },
  };
}

/** How many executions are at each client, and how many were sent there; and where each execution is counted. */
function createPlaces() {
  const of = new Map<string, Counted>();
  function leave(mockId: string): Counted {
    const counted = of.get(mockId) ?? [];
    for (const [counts, name] of counted) add(counts, name, -1);
    of.delete(mockId);
    return counted;
  }
  function put(mockId: string, counted: Counted): void {
    leave(mockId);
    for (const [counts, name] of counted) add(counts, name, 1);
    of.set(mockId, counted);
  }
  return { taken: new Map<string, number>(), chosen: new Map<string, number>(), places: { put, leave } };
}

function add(counts: Map<string, number>, directory: string, change: number): void {
  const count = (counts.get(directory) ?? 0) + change;
  if (count > 0) counts.set(directory, count);
  else counts.delete(directory);
}

// Those who wait.

/** How often those who wait look again: what other workers have at a client changes without a word. */
const CHECK_AGAIN_MS = 20;

type Waiting = { who: Whose; mustGiveUp: () => boolean; end: (how: 'taken' | 'none') => void };
type Line = Set<Waiting>;

/**
 * Those who wait for a slot, in the order in which they came; a line for each client. However many wait in a line, one timer looks for all
 * of them. `serve`: gives them what is free.
 */
function createLines({ serve }: { serve: (directory: string) => void }) {
  const lines = new Map<string, Line>();
  const nobody: Line = new Set();
  const of = (directory: string): ReadonlySet<Waiting> => lines.get(directory) ?? nobody;

  function end(directory: string, waiting: Waiting, how: 'taken' | 'none'): void {
    lines.get(directory)?.delete(waiting);
    waiting.end(how);
  }

  function begin(directory: string): Line {
    const line: Line = new Set();
    lines.set(directory, line);
    checkLater(directory);
    return line;
  }

  function checkLater(directory: string): void {
    time.setTimeout(() => {
      for (const waiting of of(directory)) if (waiting.mustGiveUp()) end(directory, waiting, 'none');
      serve(directory);
      if (of(directory).size > 0) checkLater(directory);
      else lines.delete(directory);
    }, CHECK_AGAIN_MS);
  }

  return {
    of,
    end,
    wait: (directory: string, who: Whose, mustGiveUp: () => boolean): Promise<'taken' | 'none'> =>
      new Promise((resolve) => (lines.get(directory) ?? begin(directory)).add({ who, mustGiveUp, end: resolve })),
  };
}
