import { setTimeout } from 'node:timers/promises';

/** How often somebody who waits for a place at a client looks again. */
const LOOK_AGAIN_MS = 20;

export type ClientSlots = ReturnType<typeof createClientSlots>;

/**
 * Bounds how many executions are open at one client, so that one that never answers does not collect everybody's calls.
 * A place is taken from the decision for a client on, before anything of it can be seen in the directory.
 */
export function createClientSlots({ limit, openIn }: { limit: number; openIn: (directory: string) => number }) {
  const taken = new Map<string, number>();
  const inUse = (directory: string) => Math.max(taken.get(directory) ?? 0, openIn(directory));
  const take = (directory: string) => taken.set(directory, (taken.get(directory) ?? 0) + 1);

  return {
    inUse,
    /** Takes a place, waiting for one until `deadline` (epoch ms) or as long as `goOn` says; false when there was none. */
    async acquire(directory: string, deadline: number, goOn: () => boolean): Promise<boolean> {
      while (inUse(directory) >= limit) {
        if (Date.now() >= deadline || !goOn()) return false;
        await setTimeout(LOOK_AGAIN_MS);
      }
      take(directory);
      return true;
    },
    /** Takes a place whatever the limit says: an execution that was dispatched already is open in any case. */
    occupy: (directory: string) => void take(directory),
    release(directory: string): void {
      const left = (taken.get(directory) ?? 1) - 1;
      if (left > 0) taken.set(directory, left);
      else taken.delete(directory);
    },
  };
}
