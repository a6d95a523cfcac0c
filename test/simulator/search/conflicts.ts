import type { Asked } from '../world/gate.ts';
import type { Ready } from '../world/scheduler.ts';

/**
 * What a step had to do with a path. `change`: it made, moved or removed it, or changed its rights; `write`: it only wrote into it.
 * `content`: it learnt what is in it, or when that changed; `existence`: whether it is there, and what it is; `requests`: which requests
 * are in this directory; `watch`: it is told of all that happens there.
 */
export type Touch = { path: string; how: 'change' | 'write' | 'content' | 'existence' | 'requests' | 'watch' };

/** A step that was made, and what it really touched: a write that fails changes nothing, and has seen why it fails. */
export type Touched = { asked: Asked; touches: readonly Touch[] };

/** Looks that only tell whether something is there, and not what is in it. */
const EXISTENCE = new Set(['realpath', 'openDirectory', 'opendir', 'exists', 'access', 'statfs', 'lstat']);

/**
 * What each process touches, over all runs of a search. The order of two steps matters only where one of them changes what the other one
 * touches: before all other steps a process need not be interrupted, because it comes to the same. A step that was never made yet is
 * taken to touch all it might. What was learnt holds for all runs: once something is learnt that makes a step count that did not count in
 * the search so far (`isOutdated`), the search begins anew.
 */
export function createConflicts() {
  /** By process, then by path and how. */
  const touched = new Map<string, Map<string, Touch>>();
  /** By step. */
  const known = new Map<string, Map<string, Touch>>();
  const answers = new Map<string, boolean>();
  const asInvisible = new Map<string, Asked>();
  let grew = false;

  function learn({ asked, touches }: Touched): void {
    if (touches.length === 0) return;
    const own = at(touched, asked.process);
    const ofStep = at(known, keyOf(asked));
    for (const touch of touches) {
      const key = `${touch.path} ${touch.how}`;
      if (own.has(key) && ofStep.has(key)) continue;
      own.set(key, touch);
      ofStep.set(key, touch);
      grew = true;
    }
  }

  /** Whether another process may do something for which the order counts. */
  function isVisible(ready: Ready): boolean {
    if (ready.kind === 'timer') return false;
    const { asked } = ready;
    const key = keyOf(asked);
    if (grew) answers.clear();
    const answer = answers.get(key) ?? meetsOthers(asked);
    answers.set(key, answer);
    if (!answer) asInvisible.set(key, asked);
    return answer;
  }

  /** Whether a step counts that was taken not to count since the last call of `begin`. */
  function isOutdated(): boolean {
    if (!grew) return false;
    answers.clear();
    grew = false;
    return [...asInvisible.values()].some(meetsOthers);
  }

  function meetsOthers(asked: Asked): boolean {
    const made = known.get(keyOf(asked));
    const own = made ? [...made.values()] : possible(asked);
    return [...touched].some(
      ([process, others]) =>
        process !== asked.process && [...others.values()].some((other) => own.some((touch) => meet(touch, other))),
    );
  }

  return { learn, isVisible, isOutdated, begin: () => asInvisible.clear() };
}

export type Conflicts = ReturnType<typeof createConflicts>;

/** The most that a step may touch. */
export function possible({ name, on, writes }: Asked): Touch[] {
  const look = name === 'watch' ? 'watch' : EXISTENCE.has(name) ? 'existence' : 'content';
  const how = writes ? (name === 'write' ? 'write' : 'change') : look;
  return on.map((path) => ({ path, how }));
}

function keyOf({ process, name, on }: Asked): string {
  return `${process} ${name} ${on.join(' ')}`;
}

function at(all: Map<string, Map<string, Touch>>, key: string): Map<string, Touch> {
  const own = all.get(key) ?? new Map<string, Touch>();
  all.set(key, own);
  return own;
}

function meet(one: Touch, other: Touch): boolean {
  return reaches(one, other) || reaches(other, one);
}

/** Whether what one did is seen, or undone, by the other: at the same path, below it, or as an entry of a directory that is read. */
function reaches(done: Touch, { path, how }: Touch): boolean {
  if (done.how !== 'change' && done.how !== 'write') return false;
  if (path === done.path) return how !== 'existence' || done.how === 'change';
  if (done.how === 'change' && path.startsWith(`${done.path}/`)) return true;
  const name = done.path.startsWith(`${path}/`) ? done.path.slice(path.length + 1) : '/';
  if (name.includes('/')) return false;
  if (how === 'watch') return true;
  return done.how === 'change' && (how === 'content' || (how === 'requests' && isRequest(name)));
}

/** Whether clients take a file of this name for a request. */
export function isRequest(name: string): boolean {
  return name.endsWith('.json') && !name.endsWith('_result.json') && !name.startsWith('.');
}
