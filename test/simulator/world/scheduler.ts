import type { Time, Timer } from '../../../src/shared/ports/time.ts';
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
type Due = Ready & { kind: 'timer'; what: string; run(): void };
type Enter = (task: () => void) => void;
type StartOptions = { aheadMs?: number; enter?: Enter };
type Clock = { startedAt: number; aheadMs: number; enter: Enter };

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
  let isAtOnce = false;
  const steps = new Map<number, Step>();
  const timers = new Map<number, Due>();
  /** The timers whose time has come, in the order in which they are due. */
  const due = new Map<number, Due>();
  const clocks = new Map<string, Clock>();
  const frozenUntil = new Map<string, number>();
  const dead = new Set<string>();
  const trace: Made[] = [];
  /** Of each process, a hash of all that it was told so far: of so many entries of the trace. */
  const heard = new Map<string, number>();
  let heardOf = 0;

  const isAwake = (process: string) => nowMs >= (frozenUntil.get(process) ?? 0);

  function note(process: string, what: string, how: string, result = ''): void {
    trace.push({ at: nowMs, process, what, how, result });
  }

  function setTimer(timer: Due): void {
    if (!dead.has(timer.process)) (timer.at <= nowMs ? due : timers).set(timer.id, timer);
  }

  /** Told to a process when the scheduler says so: an event of a watch, a message. */
  function tell(process: string, what: string, deliver: () => void): void {
    const id = ++lastId;
    setTimer({ kind: 'timer', id, process, at: nowMs, what, run: deliver });
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

    /** A process begins to live. Its clock is ahead of the world's by `aheadMs`. `enter` runs something in it. */
    start(process: string, { aheadMs = 0, enter = (task) => task() }: StartOptions = {}): void {
      clocks.set(process, { startedAt: nowMs, aheadMs, enter });
    },
    /** A process dies: nothing that it asked for happens any more. What happened stays. */
    kill(process: string): void {
      dead.add(process);
      for (const waiting of [steps, timers, due])
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
    /** What each process was told so far, and whether it goes on: equal where processes cannot tell two runs apart. */
    told(): string {
      for (; heardOf < trace.length; heardOf++) {
        const { at, process, what, how, result } = trace[heardOf] as Made;
        heard.set(process, hashOf(`${at} ${what} ${how} ${result}`, heard.get(process)));
      }
      const all = [...heard].map(
        ([process, hash]) => `${process}:${hash}:${dead.has(process)}:${frozenUntil.get(process) ?? 0}`,
      );
      return `${nowMs} ${all.sort().join(' ')}`;
    },
    isAlive: (process: string) => clocks.has(process) && !dead.has(process),

    /** What is asked while the task runs happens at once: for the beginning of a world, which nobody searches. */
    async atOnce(task: () => Promise<void>): Promise<void> {
      isAtOnce = true;
      await task();
      isAtOnce = false;
    },

    /**
     * The way of processes to one part of the world. `onDone` hears of what happened in it. What touches nothing that others can see
     * (closing a handle) happens at once.
     */
    gate<World>(world: World, onDone: (asked: Asked) => void = () => {}): Gate<World> {
      return <T>(asked: Asked, act: (world: World) => T): Promise<T> =>
        new Promise<T>((resolve, reject) => {
          if (dead.has(asked.process)) return;
          if (isAtOnce || asked.on.length === 0) {
            try {
              resolve(act(world));
              onDone(asked);
            } catch (error) {
              reject(error);
            }
            return;
          }
          const id = ++lastId;
          steps.set(id, {
            ...{ kind: 'step', id, process: asked.process, asked },
            run(happening) {
              if (happening.kind === 'hangs') return 'never';
              try {
                const result = run(asked, world, act, happening) as T;
                onDone(asked);
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
          setTimer({ kind: 'timer', id, process, at, what: 'timer', run });
          return { id };
        },
        clearTimeout(timer) {
          if (timer === undefined || !('id' in timer) || typeof timer.id !== 'number') return;
          timers.delete(timer.id);
          due.delete(timer.id);
        },
        setImmediate(run) {
          const id = ++lastId;
          setTimer({ kind: 'timer', id, process, at: nowMs, what: 'turn', run });
        },
      };
    },

    tell,

    /** What can happen now, in the order it was asked for; then timers. */
    ready(): Ready[] {
      const ready: Ready[] = [];
      for (const waiting of [steps, due]) for (const one of waiting.values()) if (isAwake(one.process)) ready.push(one);
      return ready;
    },
    /** What was asked for and has not happened. */
    pending: (): Iterable<Ready> => steps.values(),

    /** Lets one thing happen, and everything that follows from it in its process. */
    async make(ready: Ready, happening: Happening<unknown> = { kind: 'done' }): Promise<void> {
      if (ready.kind === 'timer') {
        const timer = due.get(ready.id);
        due.delete(ready.id);
        if (timer) clocks.get(ready.process)?.enter(timer.run);
        note(ready.process, timer?.what ?? 'timer', 'done');
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

    /** Nothing happens here any more. */
    close(): void {
      for (const waiting of [steps, timers, due]) waiting.clear();
      for (const process of clocks.keys()) dead.add(process);
    },

    /** When something can happen next if nothing can now: a timer is due, or a process wakes up. */
    nextAt(): number | undefined {
      let next = Number.POSITIVE_INFINITY;
      const mayBe = (at: number) => {
        if (at > nowMs && at < next) next = at;
      };
      for (const waiting of [steps, due])
        for (const { process } of waiting.values()) mayBe(frozenUntil.get(process) ?? 0);
      for (const { at, process } of timers.values()) mayBe(Math.max(at, frozenUntil.get(process) ?? 0));
      return Number.isFinite(next) ? next : undefined;
    },
    /** Time passes. */
    passTo(ms: number): void {
      nowMs = Math.max(nowMs, ms);
      const newlyDue = [...timers.values()].filter(({ at }) => at <= nowMs);
      for (const timer of newlyDue.sort((one, other) => one.at - other.at || one.id - other.id)) {
        timers.delete(timer.id);
        due.set(timer.id, timer);
      }
    },
  };
}

/** 53 bits of a text, going on from `seed`. */
export function hashOf(text: string, seed = 0): number {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ (seed / 2 ** 32);
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return 4294967296 * (2097151 & low) + (high >>> 0);
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
