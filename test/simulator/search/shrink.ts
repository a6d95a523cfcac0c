import type { BatchPlan, CallPlan } from '../world/service.ts';
import type { Fault, Plan, Twist } from './plan.ts';
import { type Result, runPlan, type Twists } from './random.ts';

/** A world that fails, with the result of its run. */
export type Failing = { plan: Plan; twists: Twists; result: Result };

type Part =
  | { kind: 'call'; call: CallPlan }
  | { kind: 'batch'; batch: BatchPlan }
  | { kind: 'fault'; fault: Fault }
  | { kind: 'twist'; key: string; twist: Twist };

/**
 * Takes out of a failing world, by halves, whatever it fails without: calls, batches, faults, twists (delta debugging). What is left is not the
 * least there is, and short enough to be read.
 */
export async function shrink({ plan, result }: { plan: Plan; result: Result }, runsAtMost: number): Promise<Failing> {
  let runsLeft = runsAtMost;
  const promise = promiseOf(result);
  let best: Failing = { plan, twists: result.twists, result };

  async function fails(parts: readonly Part[]): Promise<boolean> {
    runsLeft--;
    const { plan: smaller, twists } = worldOf(plan, parts);
    const tried = await runPlan(smaller, { twists });
    if (tried.broken === undefined || promiseOf(tried) !== promise) return false;
    best = { plan: smaller, twists, result: tried };
    return true;
  }

  let parts = partsOf(plan, result.twists);
  for (const isNoise of NOISE) {
    const without = parts.filter((part) => !isNoise(part));
    if (without.length < parts.length && runsLeft > 0 && (await fails(without))) parts = without;
  }
  for (let size = Math.ceil(parts.length / 2); size > 0 && runsLeft > 0; ) {
    const before = parts.length;
    for (let from = 0; from < parts.length && runsLeft > 0; ) {
      const without = [...parts.slice(0, from), ...parts.slice(from + size)];
      if (await fails(without)) parts = without;
      else from += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (parts.length === before) break;
  }
  return best;
}

/** What often has nothing to do with a failure. */
const NOISE: ((part: Part) => boolean)[] = [
  (part) => part.kind === 'twist' && part.twist.kind === 'other',
  (part) => part.kind === 'twist' && !('ms' in part.twist) && part.twist.kind !== 'dies',
  (part) => part.kind === 'twist' && (part.twist.kind === 'slow' || part.twist.kind === 'late'),
  (part) => part.kind === 'twist',
  (part) => part.kind === 'fault',
];

/** The promise that is broken, without what broke it. */
function promiseOf({ broken }: Result): string {
  return broken?.split(':')[0] ?? '';
}

function partsOf({ calls, batches = [], faults }: Plan, twists: Twists): Part[] {
  return [
    ...calls.map((call): Part => ({ kind: 'call', call })),
    ...batches.map((batch): Part => ({ kind: 'batch', batch })),
    ...faults.map((fault): Part => ({ kind: 'fault', fault })),
    ...[...twists].map(([key, twist]): Part => ({ kind: 'twist', key, twist })),
  ];
}

function worldOf(plan: Plan, parts: readonly Part[]): { plan: Plan; twists: Twists } {
  const calls = parts.flatMap((part) => (part.kind === 'call' ? [part.call] : []));
  const faults = parts.flatMap((part) => (part.kind === 'fault' ? [part.fault] : []));
  const twists = parts.flatMap((part) => (part.kind === 'twist' ? [[part.key, part.twist] as const] : []));
  const batches = parts.flatMap((part) => (part.kind === 'batch' ? [part.batch] : []));
  return { plan: { ...plan, calls, batches, faults }, twists: new Map(twists) };
}
