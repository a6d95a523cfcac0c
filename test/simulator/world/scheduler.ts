import type { Time, Timer } from '../../../src/shared/seams/time.ts';
import type { Asked, Gate } from './gate.ts';

/** What becomes of something that a process asked of the world. */
export type Happening<World> =
  /** It happens, and the process is told. */
  | { kind: 'done' }
  /** It happens, and the process is told an error instead: a reply that was lost. */
  | { kind: 'lost'; code: string }
  /** It does not happen. */
  | { kind: 'failed'; code: string }
  /** It is answered from an older copy of the world. */
  | { kind: 'stale'; world: World }
  /** It does not happen, and the process is never told. */
  | { kind: 'hangs' };

/** Something that can happen next. */
export type Ready =
  | { kind: 'step'; id: number; process: string; asked: Asked }
  | { kind: 'timer'; id: number; process: string; at: number };

/** One step that was made, as a trace has it. */
export type Made = { at: number; process: string; what: string; how: string; result: string };

type Step = Ready & { kind: 'step'; run(happening: Happening<unknown>): string };
type Due = Ready & { kind: 'timer'; run(): void };
type Clock = { startedAt: number; aheadMs: number };

/** Resolves once all that follows from the last step has happened: promises are all that processes may wait for besides the world. */
const drained = () => new Promise<void>((resolve) => setImmediate(resolve));

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * The one who decides what happens next in a simulated world. Processes ask for steps (through gates) and set timers; nothing happens by
 * itself. Time passes only when `passTo` says so. `startsAt`: the epoch ms at which the world begins.
 */
export function createScheduler(startsAt: number) {
  let nowMs = 0;
  let lastId = 0;
  const steps = new Map<number, Step>();
  const timers = new Map<number, Due>();
  const clocks = new Map<string, Clock>();
  const frozenUntil = new Map<string, number>();
  const dead = new Set<string>();
  const trace: Made[] = [];

  const isAwake = (process: string) => nowMs >= (frozenUntil.get(process) ?? 0);

  function note(process: string, what: string, how: string, result = ''): void {
    trace.push({ at: nowMs, process, what, how, result });
  }

  function run<World>(asked: Asked, world: World, act: (world: World) => unknown, happening: Happening<unknown>) {
    if (happening.kind === 'failed') throw errorOf(happening.code, asked);
    if (happening.kind === 'stale') return act(happening.world as World);
    const result = act(world);
    if (happening.kind === 'lost') throw errorOf(happening.code, asked);
    return result;
  }

  return {
    trace,
    note,
    get now() {
      return nowMs;
    },
    epoch: () => startsAt + nowMs,

    /** A process begins to live. Its clock is ahead of the world's by `aheadMs`. */
    start(process: string, aheadMs = 0): void {
      clocks.set(process, { startedAt: nowMs, aheadMs });
    },
    /** A process dies: nothing that it asked for happens any more. What happened stays. */
    kill(process: string): void {
      dead.add(process);
      for (const waiting of [steps, timers])
        for (const [id, one] of waiting) if (one.process === process) waiting.delete(id);
    },
    /** A process stands still: nothing that it asks for happens, and no timer of it fires. */
    freeze(process: string, ms: number): void {
      frozenUntil.set(process, Math.max(frozenUntil.get(process) ?? 0, nowMs + ms));
    },
    /** A clock jumps. */
    shift(process: string, ms: number): void {
      const clock = clocks.get(process);
      if (clock) clock.aheadMs += ms;
    },
    isAlive: (process: string) => clocks.has(process) && !dead.has(process),

    /** The way of processes to one part of the world. */
    gate<World>(world: World): Gate<World> {
      return <T>(asked: Asked, act: (world: World) => T): Promise<T> =>
        new Promise<T>((resolve, reject) => {
          if (dead.has(asked.process)) return;
          const id = ++lastId;
          steps.set(id, {
            ...{ kind: 'step', id, process: asked.process, asked },
            run(happening) {
              if (happening.kind === 'hangs') return 'never';
              try {
                const result = run(asked, world, act, happening) as T;
                resolve(result);
                return textOf(result);
              } catch (error) {
                reject(error);
                return textOf(error);
              }
            },
          });
        });
    },

    /** The time of a process. */
    timeOf(process: string): Time {
      return {
        now: () => startsAt + nowMs + (clocks.get(process)?.aheadMs ?? 0),
        monotonic: () => 1000 + nowMs - (clocks.get(process)?.startedAt ?? 0),
        setTimeout(run, ms): Timer {
          const id = ++lastId;
          const at = nowMs + Math.max(0, Number.isFinite(ms) ? ms : 0);
          if (!dead.has(process)) timers.set(id, { kind: 'timer', id, process, at, run });
          return { id };
        },
        clearTimeout(timer) {
          if (timer !== undefined && 'id' in timer && typeof timer.id === 'number') timers.delete(timer.id);
        },
        setImmediate(run) {
          const id = ++lastId;
          if (!dead.has(process)) timers.set(id, { kind: 'timer', id, process, at: nowMs, run });
        },
      };
    },

    /** What can happen now, in the order it was asked for. Timers that are due come in the order they are due. */
    ready(): Ready[] {
      const due = [...timers.values()].filter(({ at, process }) => at <= nowMs && isAwake(process));
      due.sort((one, other) => one.at - other.at || one.id - other.id);
      return [...[...steps.values()].filter(({ process }) => isAwake(process)), ...due];
    },
    /** What was asked for and has not happened. */
    pending: (): Iterable<Ready> => steps.values(),

    /** Lets one thing happen, and everything that follows from it in its process. */
    async make(ready: Ready, happening: Happening<unknown> = { kind: 'done' }): Promise<void> {
      if (ready.kind === 'timer') {
        const timer = timers.get(ready.id);
        timers.delete(ready.id);
        timer?.run();
        note(ready.process, 'timer', 'done');
      } else {
        const step = steps.get(ready.id);
        steps.delete(ready.id);
        const how =
          happening.kind === 'lost' || happening.kind === 'failed'
            ? `${happening.kind} ${happening.code}`
            : happening.kind;
        const result = step?.run(happening) ?? '';
        note(ready.process, `${ready.asked.name} ${ready.asked.on.join(' ')}`, how, result);
      }
      await drained();
    },
    /** Lets everything settle that follows from what was done to the world from outside. */
    settle: drained,

    /** When something can happen next if nothing can now: a timer is due, or a process wakes up. */
    nextAt(): number | undefined {
      const wakes = [...steps.values()].map(({ process }) => frozenUntil.get(process) ?? 0);
      const fires = [...timers.values()].map(({ at, process }) => Math.max(at, frozenUntil.get(process) ?? 0));
      const later = [...wakes, ...fires].filter((at) => at > nowMs);
      return later.length === 0 ? undefined : later.reduce((least, at) => Math.min(least, at));
    },
    /** Time passes. */
    passTo(ms: number): void {
      nowMs = Math.max(nowMs, ms);
    },
  };
}

function errorOf(code: string, { name, on }: Asked): Error {
  return Object.assign(new Error(`${code}: ${name} ${on.join(' ')}`), { code });
}

/** A result in a trace: short, and the same at each run. */
function textOf(value: unknown): string {
  if (value instanceof Error) return 'code' in value ? String(value.code) : value.message;
  if (value === undefined || typeof value === 'function') return '';
  if (value instanceof Promise) return 'promise';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text === undefined ? '' : text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
