import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { withoutRealWorld } from '../world/no-real-world.ts';
import { addUp, type Checked } from '../world/promises.ts';
import type { Made } from '../world/scheduler.ts';
import { SHARED } from '../world/worker-process.ts';
import { type Plan, planOf, type Size, type Twist } from './plan.ts';
import { type Result, runPlan } from './random.ts';
import { type Failing, shrink } from './shrink.ts';
import { tell } from './tell.ts';

/** What many worlds came to. */
export type Total = {
  seeds: number;
  calls: number;
  answered: number;
  steps: number;
  livedMs: number;
  checked: Checked;
  endings: Map<string, number>;
  /** How often each seed ran. The counts are of one run each. */
  runsOfEach: 1 | 2;
  /** The seeds whose worlds broke a promise. */
  failures: { seed: number; broken: string }[];
};

type Options = { size?: Size; twice?: boolean; isOver?: (total: Total) => boolean; signal?: AbortSignal };

/** Runs the worlds of seeds, one after the other, until one fails. `twice`: each a second time, which must come to the same. */
export async function runSeeds(seeds: Iterable<number>, { size, twice, isOver, signal }: Options = {}): Promise<Total> {
  const total: Total = {
    ...{ seeds: 0, calls: 0, answered: 0, steps: 0, livedMs: 0, failures: [] },
    ...{ checked: addUp([]), endings: new Map(), runsOfEach: twice ? 2 : 1 },
  };
  await withoutRealWorld(async () => {
    for (const seed of seeds) {
      signal?.throwIfAborted();
      const result = await runPlan(planOf(seed, size));
      add(total, result);
      const broken = result.broken ?? (twice ? await isAnotherWorld(seed, size, result) : undefined);
      if (broken !== undefined) total.failures.push({ seed, broken });
      if (broken !== undefined || isOver?.(total)) return;
    }
  });
  return total;
}

async function isAnotherWorld(seed: number, size: Size | undefined, first: Result): Promise<string | undefined> {
  const second = await runPlan(planOf(seed, size));
  return first.hash() === second.hash() ? undefined : 'the second run of the same seed is another one';
}

function add(total: Total, { calls, answered, steps, livedMs, checked, endings }: Result): void {
  total.seeds++;
  total.calls += calls;
  total.answered += answered;
  total.steps += steps;
  total.livedMs += livedMs;
  total.checked = addUp([total.checked, checked]);
  for (const [what, count] of endings) total.endings.set(what, (total.endings.get(what) ?? 0) + count);
}

/** The shortest world that fails as the one of this seed does. */
export function shrinkSeed(seed: number, size: Size | undefined, runsAtMost: number): Promise<Failing | undefined> {
  return withoutRealWorld(async () => {
    const plan = planOf(seed, size);
    const result = await runPlan(plan);
    return result.broken === undefined ? undefined : shrink({ plan, result }, runsAtMost);
  });
}

/** A failing world as it is told to people. */
export function tellFailing({ plan, twists, result }: Failing): string {
  return [
    `broken: ${result.broken}`,
    `service: ${JSON.stringify(plan.service)}`,
    ...plan.calls.map((call) => `call: ${JSON.stringify(call)}`),
    ...(plan.batches ?? []).map((batch) => `batch: ${JSON.stringify(batch)}`),
    ...plan.faults.map((fault) => `fault: ${JSON.stringify(fault)}`),
    ...[...twists].map(([key, twist]) => `twist at ${key}: ${JSON.stringify(twist)}`),
    tell(result.trace.filter(isTelling).map(inShort)),
  ].join('\n');
}

const ID = /00000000-0000-4000-8000-0*(\w+)/g;

/** What is about an execution, what did not go as it should, and what befell the world: not the looks that processes take all the time. */
function isTelling({ what, how, result }: Made): boolean {
  return how !== 'done' || what.startsWith('RUNS') || what.match(ID) !== null || result.match(ID) !== null;
}

function inShort({ what, result, ...rest }: Made): Made {
  const short = (text: string) => text.replace(ID, '$1').replaceAll(`${SHARED}/`, '');
  return { ...rest, what: short(what), result: short(result) };
}

/** Keeps a failing world in a file: `replay` runs it again. */
export async function keepFailing(folder: string, failing: Failing): Promise<string> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `seed-${failing.plan.seed}.json`);
  const { plan, twists, result } = failing;
  await writeFile(path, `${JSON.stringify({ broken: result.broken, plan, twists: [...twists] }, null, 1)}\n`);
  await writeFile(path.replace(/json$/, 'txt'), `${tellFailing(failing)}\n`);
  return path;
}

/** Runs a world that was kept. */
export async function replay(path: string): Promise<Failing> {
  const { plan, twists }: { plan: Plan; twists: [string, Twist][] } = JSON.parse(await readFile(path, 'utf8'));
  const all = new Map(twists);
  return { plan, twists: all, result: await withoutRealWorld(() => runPlan(plan, { twists: all })) };
}
