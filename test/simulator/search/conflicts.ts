import type { Asked } from '../world/gate.ts';
import type { Ready } from '../world/scheduler.ts';

/** Looks that only tell whether something is there, and not what is in it. */
const EXISTENCE = new Set(['realpath', 'openDirectory', 'exists', 'access', 'statfs', 'lstat']);

type Touch = { path: string; writes: boolean; isExistence: boolean };

/**
 * What each process touches, over all runs of a search. The order of two steps matters only where one of them writes what the other one
 * touches: before all other steps a process need not be interrupted, because it comes to the same.
 */
export function createConflicts() {
  const touched = new Map<string, Map<string, Touch>>();
  let grew = false;
  let known = new Map<string, boolean>();

  return {
    /** A step was made. */
    learn(asked: Asked): void {
      const own = touched.get(asked.process) ?? new Map<string, Touch>();
      touched.set(asked.process, own);
      for (const touch of touchesOf(asked)) {
        const key = `${touch.path} ${touch.writes} ${touch.isExistence}`;
        if (own.has(key)) continue;
        own.set(key, touch);
        grew = true;
        known = new Map();
      }
    },
    /** Whether something was touched that no earlier run touched: since the last time this was asked. */
    hasGrown(): boolean {
      const did = grew;
      grew = false;
      return did;
    },
    /** Whether another process may do something for which the order counts. */
    isVisible(ready: Ready): boolean {
      if (ready.kind === 'timer') return false;
      const { asked } = ready;
      const key = `${asked.process} ${asked.name} ${asked.on.join(' ')}`;
      const answer = known.get(key) ?? meetsOthers(asked);
      known.set(key, answer);
      return answer;
    },
  };

  function meetsOthers(asked: Asked): boolean {
    const own = touchesOf(asked);
    return [...touched].some(
      ([process, others]) =>
        process !== asked.process && [...others.values()].some((other) => own.some((touch) => meet(touch, other))),
    );
  }
}

export type Conflicts = ReturnType<typeof createConflicts>;

function touchesOf({ name, on, writes }: Asked): Touch[] {
  return on.map((path) => ({ path, writes, isExistence: !writes && EXISTENCE.has(name) }));
}

function meet(one: Touch, other: Touch): boolean {
  return (one.writes && reaches(one.path, other)) || (other.writes && reaches(other.path, one));
}

/** Whether a write there changes what the other one sees, or is: the same path, one below it, or an entry of the directory that is looked at. */
function reaches(written: string, { path, isExistence, writes }: Touch): boolean {
  if (path === written || path.startsWith(`${written}/`)) return true;
  return !isExistence && !writes && written.startsWith(`${path}/`) && !written.slice(path.length + 1).includes('/');
}
