import type { Ready } from '../world/scheduler.ts';
import { type Conflicts, createConflicts } from './conflicts.ts';
import { type Deviation, type Moment, type Run, runSchedule, type Scene, type Schedule } from './schedule.ts';

/** How far a search goes: at most so many of each in one schedule. */
export type Bounds = {
  /** Another process goes on although the one that was going on could. */
  preemptions: number;
  /** Faults of all kinds together. */
  faults: number;
  crashes?: boolean;
  /** How many changes old a look may be. */
  staleBy?: number;
  /** The errors instead of a reply to something that happened. EEXIST is told of what makes a name, ENOENT of what takes one away. */
  lostReplies?: readonly string[];
  /** The errors of writes that do not happen. */
  failures?: readonly string[];
  /** The errors of looks that do not happen. */
  lookFailures?: readonly string[];
  /** A step does not happen, and its process is never told. */
  hangs?: boolean;
  /** Until when a process may stand still, in ms since the beginning of the world: it and whoever acts at that time go on together. */
  sleepsUntil?: readonly number[];
  /** By how much a clock may jump, in ms. */
  jumps?: readonly number[];
  /** Whether both happen before every step, not only before those that count and before timers. */
  anywhere?: boolean;
  /** For the test of the search: a process is interrupted before every step. */
  everyStepCounts?: boolean;
  /** The processes that faults hit; all if missing. */
  hits?: readonly string[];
  /** Stops after so many schedules. */
  schedules?: number;
  /** Stops the search: that of a test that timed out would disturb the next test. */
  signal?: AbortSignal;
};

export type Explored = {
  /** Whether every schedule within the bounds was searched. */
  exhausted: boolean;
  schedules: number;
  steps: number;
  states: number;
  /** How often each invariant was checked: after every step. */
  checked: number;
  failure: { schedule: Schedule; run: Run } | undefined;
};

/** How many preemptions and faults are left, or were used. */
type Spent = { preemptions: number; faults: number };
type Branch = Spent & { schedule: Schedule; from: number };
type Make = () => Promise<Scene> | Scene;

/**
 * Searches every schedule of a scene within the bounds, each from its beginning: the state of an async function cannot be copied. Those
 * with few preemptions and faults come first.
 *
 * What "every schedule" means:
 * - Time stands still while anybody can go on. How slow a process can be is a fault (`sleepsUntil`), a slow world is none.
 * - Who can go on goes on. Another one instead is a preemption, and counts; it is free once the one that went on has to wait.
 * - What one process asks for at the same time happens in the order it asked. Watchers are told all events, at once or later.
 *
 * What is left out because it comes to the same:
 * - An interruption before a step that meets nothing that another process ever does (`conflicts.ts`): the step can be made first.
 *   So who may be put off for free is so until its first step that counts.
 * - A death between two writes: it may as well die after the first one.
 * - What was seen before with at least as many preemptions *and* faults left. A state is what `Scene.state` says.
 *
 * Errors are tried at every step, also where the order does not count: they change what the process itself sees. A stale look is tried where
 * another process may have changed something. Standing still and jumps of the clock are tried before every step only where `anywhere` says
 * so, elsewhere before steps that count and before timers: that is a bound, because a process may look at its clock between two steps that
 * do not count.
 */
export async function explore(make: Make, bounds: Bounds): Promise<Explored> {
  const conflicts = createConflicts();
  const total = { schedules: 0, steps: 0, states: 0, checked: 0 };
  for (;;) {
    const found = await searchOnce(make, { bounds, conflicts, total });
    if (found !== 'outdated') return { ...total, ...found };
  }
}

type Search = {
  bounds: Bounds;
  conflicts: Conflicts;
  total: Pick<Explored, 'schedules' | 'steps' | 'states' | 'checked'>;
};

async function searchOnce(
  make: Make,
  { bounds, conflicts, total }: Search,
): Promise<Pick<Explored, 'exhausted' | 'failure'> | 'outdated'> {
  const seen = createSeen();
  // By how much deviates from the default.
  const branches: Branch[][] = [[{ schedule: new Map(), from: 0, preemptions: 0, faults: 0 }]];
  conflicts.begin();
  for (;;) {
    const branch = branches.find((level) => level.length > 0)?.pop();
    if (branch === undefined) return { exhausted: true, failure: undefined };
    bounds.signal?.throwIfAborted();
    if (total.schedules >= (bounds.schedules ?? Number.POSITIVE_INFINITY))
      return { exhausted: false, failure: undefined };
    const deciding: Deciding = { branch, bounds, seen, branches, conflicts, puttingOff: undefined };
    const run = await runSchedule(make, (moment) => decide(moment, deciding));
    total.schedules++;
    total.steps += run.steps;
    total.checked += run.checked;
    total.states = seen.size();
    if (run.kind === 'broken' || run.kind === 'stuck')
      return { exhausted: false, failure: { schedule: branch.schedule, run } };
    if (conflicts.isOutdated()) return 'outdated';
  }
}

type Deciding = {
  branch: Branch;
  bounds: Bounds;
  seen: Seen;
  branches: Branch[][];
  conflicts: Conflicts;
  /** The process that came because another one had to wait, and has made no step yet that counts. */
  puttingOff: string | undefined;
};

function decide(moment: Moment, deciding: Deciding): Deviation | 'cut' | undefined {
  const { branch, bounds, seen, branches, conflicts } = deciding;
  const { at, scene, next } = moment;
  for (const touched of scene.touched()) conflicts.learn(touched);
  if (moment.isFreeSwitch) deciding.puttingOff = next.process;
  const isVisible = bounds.everyStepCounts || conflicts.isVisible(next);
  const isFree = deciding.puttingOff === next.process;
  if (isVisible) deciding.puttingOff = undefined;
  if (at < branch.from) return takenFrom(branch.schedule.get(at), deciding);
  const deviations = deviationsAt(moment, branch, { bounds, isVisible, isFree });
  if (!isVisible && deviations.length === 0) return undefined;
  const key = `${scene.state()} ${next.process} ${isFree}`;
  const left = { preemptions: bounds.preemptions - branch.preemptions, faults: bounds.faults - branch.faults };
  if (seen.covers(key, left)) return 'cut';
  for (const deviation of deviations) {
    const isSwitch = deviation.kind === 'switch';
    const preemptions = branch.preemptions + (isSwitch && !isFree ? 1 : 0);
    const faults = branch.faults + (isSwitch ? 0 : 1);
    branches[preemptions + faults] ??= [];
    branches[preemptions + faults]?.push({
      schedule: new Map([...branch.schedule, [at, deviation]]),
      from: at + 1,
      preemptions,
      faults,
    });
  }
  return undefined;
}

function takenFrom(deviation: Deviation | undefined, deciding: Deciding): Deviation | undefined {
  if (deviation?.kind === 'switch') deciding.puttingOff = undefined;
  return deviation;
}

/** The states that were seen, each with what was left of preemptions and faults. */
function createSeen() {
  const all = new Map<string, Spent[]>();
  return {
    size: () => all.size,
    /** Whether the state was seen with at least as much left. Notes it if not. */
    covers(key: string, left: Spent): boolean {
      const known = all.get(key) ?? [];
      const isEnough = (one: Spent, other: Spent) => one.preemptions >= other.preemptions && one.faults >= other.faults;
      if (known.some((one) => isEnough(one, left))) return true;
      all.set(key, [...known.filter((one) => !isEnough(left, one)), left]);
      return false;
    },
  };
}

type Seen = ReturnType<typeof createSeen>;

type Where = { bounds: Bounds; isVisible: boolean; isFree: boolean };

function deviationsAt(moment: Moment, { preemptions, faults }: Branch, where: Where): Deviation[] {
  const { bounds, isVisible, isFree } = where;
  const { next, others } = moment;
  const switches: Deviation[] =
    isVisible && (isFree || preemptions < bounds.preemptions)
      ? others.map(({ process }) => ({ kind: 'switch', to: process }))
      : [];
  const isHit = bounds.hits === undefined || bounds.hits.includes(next.process);
  return faults < bounds.faults && isHit ? [...switches, ...faultsAt(moment, where)] : switches;
}

function faultsAt(moment: Moment, { bounds, isVisible }: Where): Deviation[] {
  const { next } = moment;
  const { process } = next;
  const { crashes = false, anywhere = false } = bounds;
  const ofProcess = isVisible || next.kind === 'timer' || anywhere ? faultsOfTime(moment, bounds) : [];
  // Whether it dies before or after something that nobody can see is the same.
  if (crashes && moment.isFirstSinceWrite) ofProcess.push({ kind: 'crash', process });
  return isOfFiles(next) ? [...ofProcess, ...faultsOfStep(moment, bounds, isVisible)] : ofProcess;
}

function faultsOfTime({ scene, next: { process } }: Moment, { sleepsUntil = [], jumps = [] }: Bounds): Deviation[] {
  const later = sleepsUntil.filter((until) => until > scene.scheduler.now);
  return [
    ...later.map((until): Deviation => ({ kind: 'sleep', process, until })),
    ...jumps.map((ms): Deviation => ({ kind: 'jump', process, ms })),
  ];
}

const MAKES_A_NAME = new Set(['symlink', 'mkdir', 'open']);
const TAKES_A_NAME = new Set(['rename', 'unlink', 'rmdir']);

function faultsOfStep({ next, scene }: Moment, bounds: Bounds, isVisible: boolean): Deviation[] {
  if (next.kind !== 'step') return [];
  const { staleBy = 0, lostReplies = [], failures = [], lookFailures = [], hangs = false } = bounds;
  const { name, writes } = next.asked;
  const failed = (writes ? failures : lookFailures).map((code): Deviation => ({ kind: 'failed', code }));
  if (hangs) failed.push({ kind: 'hang' });
  if (writes) {
    const mayBeTold = (code: string) =>
      code === 'EEXIST' ? MAKES_A_NAME.has(name) : code === 'ENOENT' ? TAKES_A_NAME.has(name) : true;
    return [...failed, ...lostReplies.filter(mayBeTold).map((code): Deviation => ({ kind: 'lost', code }))];
  }
  const copies = isVisible ? scene.staleFor(next).slice(0, staleBy) : [];
  return [...failed, ...copies.map((_, age): Deviation => ({ kind: 'stale', age }))];
}

function isOfFiles(ready: Ready): boolean {
  return ready.kind === 'step' && ready.asked.port === 'files';
}
