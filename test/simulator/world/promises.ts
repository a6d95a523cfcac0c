import type { ItemHead } from '../../../src/shared/cases/batch.ts';
import type { Ending, ReadResult } from '../../../src/shared/contract/endings/ending.ts';
import { ranNothing } from '../../../src/shared/reasons/endings.ts';
import { bodyOf, type Sdk } from './clients.ts';

/** A call that an API took. `ids`: those that its execution can have. */
export type Promised = { n: number; ids: readonly string[]; key: string | null; api: string; arrivedAt: number };

/** What must hold in every world. */
export const PROMISES = {
  once: 'a rule runs at most once',
  didNotRun: 'what was told not to have run never runs',
  told: 'every call is told one ending, in time',
  exact: "an answer is the client's, to the byte",
  keyed: 'a key runs once, and its repeats are told its answer',
  nothingLeft: 'after 25 hours no file and no slot is left',
} as const;
export type PromiseName = keyof typeof PROMISES;
export type Checked = Record<PromiseName, number>;

const none = (): Checked => ({ once: 0, didNotRun: 0, told: 0, exact: 0, keyed: 0, nothingLeft: 0 });

export type Promises = ReturnType<typeof createPromises>;

/** End an execution whose refusal could not be written: for its request, or in a shared directory that cannot be used; or by no worker. */
const NOT_WRITTEN: readonly string[] = ['channel-unavailable', 'no-worker'];

type Told = Ending<ReadResult>;
type OfKey = { runs: number; ranAt: number; answer: string | undefined };

/** A key that the queue store has lost is held by its claim for so long. */
const HELD_MS = 20 * 60_000;

/** Keeps account of what was promised, of what callers were told, and of what clients really ran. */
export function createPromises({ now }: { now: () => number }) {
  const checked = none();
  const ran = new Map<string, { sdk: Sdk; times: number; at: number }>();
  const didNotRun = new Map<string, { who: string; code: string; isReader: boolean }>();
  const ids = new Set<string>();
  const open = new Map<number, Promised>();
  const ended = new Set<number>();
  const keyOf = new Map<string, string>();
  /** The call that came first under each key. */
  const firstOf = new Map<string, number>();
  const keys = new Map<string, OfKey>();
  const endings = new Map<string, number>();
  let broken: string | undefined;
  let lostAt = Number.NEGATIVE_INFINITY;
  let answered = 0;

  const breaks = (name: PromiseName, how: string) => {
    broken ??= `${PROMISES[name]}: ${how}`;
  };
  const check = (name: PromiseName, holds: boolean, how: () => string) => {
    checked[name]++;
    if (!holds) breaks(name, how());
  };

  /** Whether what ran then holds its key: the queue store knows of it, or its claim is kept. */
  const isHeld = (ranAt: number) => lostAt < ranAt || now() < ranAt + HELD_MS;

  /** What executions with these ids run is to run once. */
  function keyed(key: string, of: readonly string[]): void {
    for (const id of of) keyOf.set(id, key);
    keys.set(key, keys.get(key) ?? { runs: 0, ranAt: 0, answer: undefined });
  }

  function checkKey(mockId: string, ending: Told, who: string): void {
    const key = keyOf.get(mockId);
    const of = key === undefined ? undefined : keys.get(key);
    if (of === undefined || ending.kind !== 'answered') return;
    const { body } = ending.result;
    if (of.runs === 1)
      check('keyed', (of.answer ?? body) === body, () => `${who} was told ${body}, and another call ${of.answer}`);
    of.answer ??= body;
  }

  /** Somebody is told how an execution ended. */
  function hears(who: string, mockId: string, ending: Told, { isReader = false } = {}): void {
    const run = ran.get(mockId);
    if (ending.kind === 'unanswered') {
      if (ending.noAnswer.mayHaveRun) return;
      const { code } = ending.noAnswer;
      const wasToldToCaller = didNotRun.get(mockId)?.isReader === false;
      didNotRun.set(mockId, { who, code, isReader: isReader && !wasToldToCaller });
      check('didNotRun', run === undefined, () => `${who} was told so of ${mockId} (${code}), and it ran`);
      return;
    }
    const { body } = ending.result;
    const expected = run && bodyOf(mockId, run.sdk);
    const isExact = body === expected || (run !== undefined && body === bodyWithoutRegistration(mockId, run.sdk));
    check('exact', isExact, () => `${who} was told ${body} of ${mockId} instead of ${expected ?? 'nothing'}`);
  }

  return {
    checked,
    endings,
    broken: () => broken,
    get answered() {
      return answered;
    },
    open: () => open.size,
    arrivals: () => ids.size,
    /** The ids of all calls that arrived. */
    known: (): Iterable<string> => ids,

    arrived(call: Promised): void {
      for (const id of call.ids) ids.add(id);
      open.set(call.n, call);
      if (call.key === null) return;
      keyed(call.key, call.ids);
      firstOf.set(call.key, firstOf.get(call.key) ?? call.n);
    },
    keyed,
    /** Its callers are told nothing any more; the connection broke. */
    apiDied(process: string): void {
      for (const [n, { api }] of open) if (api === process) open.delete(n);
    },
    /** A client begins to run a rule. */
    ran(mockId: string, sdk: Sdk): void {
      const before = ran.get(mockId);
      const key = keyOf.get(mockId);
      const times = (before?.times ?? 0) + 1;
      ran.set(mockId, { sdk, times, at: now() });
      const mayRun = before === undefined || (key !== undefined && !isHeld(before.at));
      check('once', mayRun, () => `${mockId} ran ${times} times`);
      const told = didNotRun.get(mockId);
      check(
        'didNotRun',
        told === undefined,
        () => `${told?.who} was told so of ${mockId} (${told?.code}), and now it runs`,
      );
      const of = keys.get(key ?? '');
      if (!of) return;
      of.runs++;
      check('keyed', of.runs === 1 || !isHeld(of.ranAt), () => `${key} runs for the ${of.runs}. time`);
      of.ranAt = now();
    },
    /** The caller of a call is told the ending of the execution it stands for. */
    told(call: Promised, mockId: string, ending: Told): void {
      check('told', !ended.has(call.n), () => `call ${call.n} was told two endings`);
      ended.add(call.n);
      open.delete(call.n);
      if (call.key !== null) keyOf.set(mockId, call.key);
      const what = ending.kind === 'answered' ? 'answered' : ending.noAnswer.code;
      endings.set(what, (endings.get(what) ?? 0) + 1);
      if (ending.kind === 'answered') answered++;
      hears(`the caller of call ${call.n}`, mockId, ending);
      const isFirst = call.key !== null && firstOf.get(call.key) === call.n;
      if (isFirst && ending.kind === 'unanswered' && ranNothing(ending.noAnswer))
        check('didNotRun', !ran.has(mockId), () => `call ${call.n} was told so of itself (${what}), and it ran`);
      checkKey(mockId, ending, `call ${call.n}`);
    },
    /** Somebody reads an execution in the history. */
    read(mockId: string, ending: Told): void {
      hears('a reader of the history', mockId, ending, { isReader: true });
    },
    /** How an item of a batch ended, as the batch has it at the end of a world. */
    item(mockId: string, { verdict, mayHaveRun }: ItemHead): void {
      const times = ran.get(mockId)?.times ?? 0;
      check('told', verdict !== 'pending', () => `item ${mockId} of a batch that is over has no ending`);
      endings.set(`item ${verdict}`, (endings.get(`item ${verdict}`) ?? 0) + 1);
      const isUnanswered = verdict === 'unanswered' || verdict === 'skipped';
      if (verdict === 'pending' || (isUnanswered && mayHaveRun)) return;
      if (isUnanswered) check('didNotRun', times === 0, () => `item ${mockId} is ${verdict}, and it ran`);
      else check('exact', times === 1, () => `item ${mockId} has an answer, and never ran`);
    },
    /** `jobsComeBack`: the store is as it was a moment ago, with the jobs of that time. */
    lostAllData({ jobsComeBack = false } = {}): void {
      lostAt = now();
      // A repeat of a call that was refused may have its id.
      for (const mockId of keyOf.keys()) didNotRun.delete(mockId);
      // Their refusals could not be written, so only the queue store knew of them. Whose own caller was told, of that no API waits any more: it
      // runs only if the store itself brings its job back.
      for (const [mockId, { code, isReader }] of didNotRun)
        if (NOT_WRITTEN.includes(code) && (isReader || jobsComeBack)) didNotRun.delete(mockId);
    },
    /** Calls must be told by then: `withinMs` after they arrived or, if that is later, after `calmAt`. */
    inTime(withinMs: number, calmAt: number): void {
      for (const { n, arrivedAt } of open.values()) {
        const by = Math.max(arrivedAt, calmAt) + withinMs;
        if (now() > by) breaks('told', `call ${n}, of ${arrivedAt} ms, was told nothing by ${by} ms`);
      }
    },
    left(what: readonly string[]): void {
      check('nothingLeft', what.length === 0, () => `${what.length} are left: ${what.slice(0, 5).join(', ')}`);
    },
  };
}

/**
 * What is told of the answer of a client that was addressed while its registration was missing (the cleaner removed it, or a look was
 * stale): the worker takes it for a directory that speaks the dialect of the service, and only adds the members that it misses.
 */
function bodyWithoutRegistration(mockId: string, sdk: Sdk): string {
  const body = bodyOf(mockId, sdk).replace('"the service":', '"roam":');
  return body.replace(/"error":null}$/, '"the service":{},"error":null}');
}

/** The sum of what was checked in several worlds. */
export function addUp(all: readonly Checked[]): Checked {
  const sum = none();
  for (const one of all) for (const name of namesOf(sum)) sum[name] += one[name];
  return sum;
}

function namesOf(checked: Checked): PromiseName[] {
  return Object.keys(checked).filter((name): name is PromiseName => name in PROMISES);
}
