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
  /** The error instead of a reply to something that happened. */
  lostReplies?: string;
  /** The errors of writes that do not happen. */
  failures?: readonly string[];
  /** How long a process may stand still, ms. */
  freezes?: readonly number[];
  /** The processes that faults hit; all if missing. */
  hits?: readonly string[];
  /** Stops after so many ms of real time. */
  withinMs?: number;
};

export type Explored = {
  /** Whether every schedule within the bounds was searched. */
  exhausted: boolean;
  schedules: number;
  steps: number;
  states: number;
  checked: number;
  failure: { schedule: Schedule; run: Run } | undefined;
};

type Branch = { schedule: Schedule; from: number; preemptions: number; faults: number };
type Make = () => Promise<Scene> | Scene;

/**
 * Searches every schedule of a scene within the bounds, each from its beginning: the state of an async function cannot be copied. Those
 * with few preemptions and faults come first. What was seen before is not searched again: a state is the world, and of each process all
 * it was told so far. A process is interrupted only where the order counts (`conflicts.ts`).
 */
export async function explore(make: Make, bounds: Bounds): Promise<Explored> {
  const until = performance.now() + (bounds.withinMs ?? Number.POSITIVE_INFINITY);
  const conflicts = createConflicts();
  const total = { schedules: 0, steps: 0, states: 0, checked: 0 };
  for (;;) {
    const found = await searchOnce(make, { bounds, conflicts, total, until });
    // What was learnt on the way may make more places count.
    if (found !== 'once more') return { ...total, ...found };
  }
}

type Search = {
  bounds: Bounds;
  conflicts: Conflicts;
  total: Pick<Explored, 'schedules' | 'steps' | 'states' | 'checked'>;
  until: number;
};

async function searchOnce(
  make: Make,
  { bounds, conflicts, total, until }: Search,
): Promise<Pick<Explored, 'exhausted' | 'failure'> | 'once more'> {
  const seen = new Map<string, number>();
  // By how much deviates from the default.
  const branches: Branch[][] = [[{ schedule: new Map(), from: 0, preemptions: 0, faults: 0 }]];
  total.states = 0;
  for (;;) {
    const branch = branches.find((level) => level.length > 0)?.pop();
    if (branch === undefined) return conflicts.hasGrown() ? 'once more' : { exhausted: true, failure: undefined };
    if (performance.now() > until) return { exhausted: false, failure: undefined };
    const run = await runSchedule(make, (moment) => decide(moment, branch, { bounds, seen, branches, conflicts }));
    total.schedules++;
    total.steps += run.steps;
    total.checked += run.checked;
    total.states = seen.size;
    if (run.kind === 'broken' || run.kind === 'stuck')
      return { exhausted: false, failure: { schedule: branch.schedule, run } };
  }
}

type Deciding = { bounds: Bounds; seen: Map<string, number>; branches: Branch[][]; conflicts: Conflicts };

function decide(
  moment: Moment,
  branch: Branch,
  { bounds, seen, branches, conflicts }: Deciding,
): Deviation | 'cut' | undefined {
  const { at, scene, next } = moment;
  if (next.kind === 'step') conflicts.learn(next.asked);
  if (at < branch.from) return branch.schedule.get(at);
  const isVisible = conflicts.isVisible(next);
  if (!isVisible && !moment.hasJustWritten) return undefined;
  const left = (bounds.preemptions - branch.preemptions) * 100 + bounds.faults - branch.faults;
  const key = `${scene.state()}|${scene.scheduler.told()}|${next.process}`;
  if ((seen.get(key) ?? -1) >= left) return 'cut';
  seen.set(key, left);
  for (const deviation of deviationsAt(moment, branch, { bounds, isVisible })) {
    const isSwitch = deviation.kind === 'switch';
    const preemptions = branch.preemptions + (isSwitch && !moment.isFreeSwitch ? 1 : 0);
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

type Where = { bounds: Bounds; isVisible: boolean };

function deviationsAt(moment: Moment, { preemptions, faults }: Branch, { bounds, isVisible }: Where): Deviation[] {
  const { next, others, isFreeSwitch } = moment;
  const switches: Deviation[] =
    isFreeSwitch || (isVisible && preemptions < bounds.preemptions)
      ? others.map(({ process }) => ({ kind: 'switch', to: process }))
      : [];
  const isHit = bounds.hits === undefined || bounds.hits.includes(next.process);
  return faults < bounds.faults && isHit ? [...switches, ...faultsAt(moment, { bounds, isVisible })] : switches;
}

function faultsAt(moment: Moment, { bounds, isVisible }: Where): Deviation[] {
  const { process } = moment.next;
  const { crashes = false, freezes = [] } = bounds;
  const ofProcess: Deviation[] = isVisible ? freezes.map((ms) => ({ kind: 'freeze', process, ms })) : [];
  // Whether it dies before or after something that nobody can see is the same.
  if (crashes && (moment.hasJustWritten || moment.at === 0)) ofProcess.push({ kind: 'crash', process });
  return isVisible ? [...ofProcess, ...faultsOfStep(moment, bounds)] : ofProcess;
}

function faultsOfStep({ next, scene }: Moment, { staleBy = 0, lostReplies, failures = [] }: Bounds): Deviation[] {
  if (!isOfFiles(next)) return [];
  if (next.asked.writes) {
    const lost: Deviation[] = lostReplies === undefined ? [] : [{ kind: 'lost', code: lostReplies }];
    return [...lost, ...failures.map((code): Deviation => ({ kind: 'failed', code }))];
  }
  const copies = scene.staleFor(next).slice(0, staleBy);
  return copies.map((_, age): Deviation => ({ kind: 'stale', age }));
}

function isOfFiles(ready: Ready): ready is Ready & { kind: 'step' } {
  return ready.kind === 'step' && ready.asked.seam === 'files';
}
