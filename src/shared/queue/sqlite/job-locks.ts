import { performance } from 'node:perf_hooks';

type Lock = { token: string; until: number };

export type JobLocks = ReturnType<typeof createJobLocks>;

/**
 * Who works on which job of a queue. Locks are not kept: whoever held one before this process began is gone. A lock that was not renewed
 * in time is still its holder's until it is missing at two checks, as on Redis: an event loop that stands still loses nothing by that alone.
 */
export function createJobLocks() {
  const locks = new Map<string, Lock>();
  const missed = new Set<string>();
  let checkedAt = Number.NEGATIVE_INFINITY;

  return {
    acquire(id: string, token: string, ms: number): void {
      locks.set(id, { token, until: performance.now() + ms });
      missed.delete(id);
    },
    /** False when somebody else has it, or nobody. */
    extend(id: string, token: string, ms: number): boolean {
      if (locks.get(id)?.token !== token) return false;
      this.acquire(id, token, ms);
      return true;
    },
    holderOf: (id: string): string | undefined => locks.get(id)?.token,
    /** Only what `token` holds, if it is given. */
    release(id: string, token?: string): void {
      if (token !== undefined && locks.get(id)?.token !== token) return;
      locks.delete(id);
      missed.delete(id);
    },
    releaseAll(): void {
      locks.clear();
      missed.clear();
    },
    /** Of these jobs, which are active, those that nobody works on: their lock was missing at this check and at the one before. */
    check(active: readonly string[], everyMs: number): string[] {
      const now = performance.now();
      if (now - checkedAt < everyMs / 2) return []; // another worker of this queue has just done it
      checkedAt = now;
      const lapsed = active.filter((id) => (locks.get(id)?.until ?? 0) <= now);
      const stalled = lapsed.filter((id) => missed.has(id));
      missed.clear();
      for (const id of lapsed) missed.add(id);
      for (const id of stalled) this.release(id);
      return stalled;
    },
  };
}
