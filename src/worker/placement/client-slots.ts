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

/**
 * Bounds how many executions are open at one client, so that one that never answers does not collect everybody's calls.
 * An execution takes its slot once its client is chosen, before anything of it can be seen in the directory.
 */
export function createClientSlots({ limit, waitingLimit, othersIn }: Options) {
  const taken = new Map<string, number>();
  const waiting = new Map<string, number>();
  const inUse = (directory: string) => (taken.get(directory) ?? 0) + othersIn(directory);
  const add = (counts: Map<string, number>, directory: string, change: number) => {
    const count = (counts.get(directory) ?? 0) + change;
    if (count > 0) counts.set(directory, count);
    else counts.delete(directory);
  };
  const chosen = new Map<string, number>();

  return {
    inUse,
    /** How many executions a client has or is about to get. Calls that come at the same moment are spread by this number. */
    load: (directory: string) => inUse(directory) + (chosen.get(directory) ?? 0),
    /** Those of them that are this worker's: exact at any moment. */
    ownLoad: (directory: string) => (taken.get(directory) ?? 0) + (chosen.get(directory) ?? 0),
    /** A client was chosen for an execution; it counts as its load until the returned function is called. */
    choose(directory: string): () => void {
      add(chosen, directory, 1);
      let released = false;
      return () => {
        if (!released) add(chosen, directory, -1);
        released = true;
      };
    },
    /**
     * Takes a slot, waiting for one until `deadline` (epoch ms) or as long as `goOn` says. `none`: there was none; `crowded`:
     * too many wait for one already.
     */
    async acquire(directory: string, deadline: number, goOn: () => boolean): Promise<'taken' | 'none' | 'crowded'> {
      if (inUse(directory) >= limit && (waiting.get(directory) ?? 0) >= waitingLimit) return 'crowded';
      add(waiting, directory, 1);
      try {
        while (inUse(directory) >= limit) {
          if (time.now() >= deadline || !goOn()) return 'none';
          await time.pause(LOOK_AGAIN_MS);
        }
      } finally {
        add(waiting, directory, -1);
      }
      add(taken, directory, 1);
      return 'taken';
    },
    /** Takes a slot whatever the limit says: an execution that was dispatched already is open in any case. */
    occupy: (directory: string) => add(taken, directory, 1),
    release: (directory: string) => add(taken, directory, -1),
  };
}
