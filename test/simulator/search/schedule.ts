import type { Happening, Made, Ready, Scheduler } from '../world/scheduler.ts';
import type { Touched } from './conflicts.ts';

/** A world at its beginning, with what must hold in it. A schedule is run in a fresh one each time. */
export type Scene = {
  scheduler: Scheduler;
  /** Whether what the scene is about has happened. */
  isOver(): boolean;
  /** What must hold and does not; undefined while all does. */
  broken(): string | undefined;
  /** The same, of what must hold once it is over. */
  brokenAtTheEnd?(): string | undefined;
  /**
   * Equal only where nobody can tell two moments apart: the world outside the processes, what each living process was told so far (what it
   * holds and waits for follows from that), what is on its way to them, and the time.
   */
  state(): string;
  /** What was touched since the last call. */
  touched(): readonly Touched[];
  /** Is told of every step that was made, and of every death. */
  made(made: Made): void;
  /** Older copies of the world in which this is asked, newest first. */
  staleFor(ready: Ready): readonly unknown[];
  /** Ends everything, for good: nothing of this world may go on. */
  close(): void;
};

/** What happens at one place instead of what would happen by default. */
export type Deviation =
  /** Another process goes on. */
  | { kind: 'switch'; to: string }
  /** It dies before this step. */
  | { kind: 'crash'; process: string }
  /** It stands still for so long, before this step. */
  | { kind: 'freeze'; process: string; ms: number }
  /** It stands still until then, in ms since the beginning of the world, before this step. */
  | { kind: 'sleep'; process: string; until: number }
  /** Its clock jumps by so much, before this step. */
  | { kind: 'jump'; process: string; ms: number }
  /** This step sees the world as it was `age` changes ago. */
  | { kind: 'stale'; age: number }
  /** This step happens, and its process is told this error. */
  | { kind: 'lost'; code: string }
  /** This step does not happen, and its process is told this error. */
  | { kind: 'failed'; code: string }
  /** This step does not happen, and its process is never told. */
  | { kind: 'hang' }
  /** Time passes until something else can happen, before this step. */
  | { kind: 'wait' };

/** The deviations of a schedule, by the number of the step. */
export type Schedule = ReadonlyMap<number, Deviation>;

/** One moment of a run: what would happen now, and what else can. */
export type Moment = {
  at: number;
  scene: Scene;
  next: Ready;
  others: readonly Ready[];
  /** The process that went on last cannot. */
  isFreeSwitch: boolean;
  /** The process that goes on now has asked for nothing since its last write, or since it began. */
  isFirstSinceWrite: boolean;
};

export type Run = {
  kind: 'over' | 'broken' | 'stuck' | 'cut';
  /** What does not hold. */
  why: string | undefined;
  trace: readonly Made[];
  steps: number;
  /** How often the invariants were checked. */
  checked: number;
};

/** More steps than any scene takes: one that goes on for ever is a defect of the scene. */
const MAX_STEPS = 60_000;
/** Longer than any scene waits for nothing. */
const QUIET_MS = 60_000;

/**
 * Runs a schedule. By default the process that went on last goes on; when it cannot, the one that asked first. `decide` is asked at each
 * moment for a deviation; 'cut' ends the run.
 */
export async function runSchedule(
  make: () => Promise<Scene> | Scene,
  decide: (moment: Moment) => Deviation | 'cut' | undefined,
): Promise<Run> {
  const scene = await make();
  const { scheduler } = scene;
  const realNow = Date.now;
  Date.now = scheduler.epoch; // what tells the time of day in a sentence, past the port
  await scheduler.settle();
  let last = '';
  const sinceWrite = new Map<string, boolean>();
  let checked = 0;
  const end = (kind: Run['kind'], why?: string): Run => {
    Date.now = realNow;
    scene.close();
    return { kind, why, trace: scheduler.trace, steps: scheduler.trace.length, checked };
  };
  try {
    for (let at = 0; at < MAX_STEPS; ) {
      checked++;
      const why = scene.broken();
      if (why !== undefined) return end('broken', why);
      if (scene.isOver()) {
        const missing = scene.brokenAtTheEnd?.();
        return missing === undefined ? end('over') : end('broken', missing);
      }
      const ready = scheduler.ready();
      const next = ready.find(({ process }) => process === last) ?? ready[0];
      if (next === undefined) {
        const nextAt = scheduler.nextAt();
        scheduler.passTo(nextAt ?? scheduler.now + QUIET_MS);
        last = ''; // whoever went on had to wait
        if (nextAt === undefined && !scene.isOver())
          return end('stuck', 'nothing can happen any more, and it is not over');
        continue;
      }
      const deviation = decide({
        at,
        scene,
        next,
        others: firstOfOthers(ready, next),
        isFreeSwitch: next.process !== last,
        isFirstSinceWrite: sinceWrite.get(next.process) ?? true,
      });
      if (deviation === 'cut') return end('cut');
      sinceWrite.set(next.process, false);
      const known = scheduler.trace.length;
      const made = await makeStep(scene, next, ready, deviation);
      last = made?.process ?? last;
      if (made) sinceWrite.set(made.process, made.kind === 'step' && made.asked.writes);
      const told = scheduler.trace.at(-1);
      if (told && scheduler.trace.length > known) scene.made(told);
      at++;
    }
    return end('stuck', `it is not over after ${MAX_STEPS} steps`);
  } catch (error) {
    return end('broken', `the scene itself failed: ${error instanceof Error ? error.stack : String(error)}`);
  }
}

/** What was done; undefined when nothing was. */
async function makeStep(
  scene: Scene,
  next: Ready,
  ready: readonly Ready[],
  deviation: Deviation | undefined,
): Promise<Ready | undefined> {
  const { scheduler } = scene;
  switch (deviation?.kind) {
    case 'crash':
      scheduler.kill(deviation.process);
      scheduler.note(deviation.process, 'crashes', '');
      return undefined;
    case 'freeze':
      scheduler.freeze(deviation.process, deviation.ms);
      scheduler.note(deviation.process, `stands still for ${deviation.ms} ms`, '');
      return undefined;
    case 'sleep':
      scheduler.freeze(deviation.process, deviation.until - scheduler.now);
      scheduler.note(deviation.process, `stands still until ${deviation.until} ms`, '');
      return undefined;
    case 'jump':
      scheduler.shift(deviation.process, deviation.ms);
      scheduler.note(deviation.process, `its clock jumps by ${deviation.ms} ms`, '');
      return undefined;
    case 'wait': {
      const nextAt = scheduler.nextAt();
      if (nextAt !== undefined) scheduler.passTo(nextAt);
      return undefined;
    }
    case 'switch': {
      const other = ready.find(({ process }) => process === deviation.to) ?? next;
      await scheduler.make(other);
      return other;
    }
    case 'hang':
      await scheduler.make(next, { kind: 'hangs' });
      return next;
    default:
      await scheduler.make(next, happeningOf(deviation, scene, next));
      return next;
  }
}

function happeningOf(
  deviation: Extract<Deviation, { kind: 'stale' | 'lost' | 'failed' }> | undefined,
  scene: Scene,
  next: Ready,
): Happening<unknown> {
  if (deviation === undefined) return { kind: 'done' };
  if (deviation.kind !== 'stale') return deviation;
  const world = scene.staleFor(next)[deviation.age];
  return world === undefined ? { kind: 'done' } : { kind: 'stale', world };
}

/** What each other process would do next. */
function firstOfOthers(ready: readonly Ready[], next: Ready): Ready[] {
  const seen = new Set([next.process]);
  return ready.filter(({ process }) => !seen.has(process) && seen.add(process));
}

/** A schedule as text, and back: what a failure prints, and a test keeps. */
export function toText(schedule: Schedule): string {
  return JSON.stringify([...schedule]);
}

export function replaying(schedule: Schedule): (moment: Moment) => Deviation | undefined {
  return ({ at }) => schedule.get(at);
}
