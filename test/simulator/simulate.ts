import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { tryMutants } from './mutants/run-mutants.ts';
import { sizes } from './search/plan.ts';
import { plans, worldsOf } from './search/plans.ts';
import { runPlan } from './search/random.ts';
import { replaying, runSchedule, toText } from './search/schedule.ts';
import { keepFailing, replay, runSeeds, shrinkSeed, type Total, tellFailing } from './search/seeds.ts';
import { tell } from './search/tell.ts';
import { type SmallWorld, search, smallWorlds } from './small-worlds.ts';
import { withoutRealWorld } from './world/no-real-world.ts';
import { PROMISES } from './world/promises.ts';

// `npm run simulate`: searches simulated worlds for a schedule that breaks a promise.
//   --seed N         the large world of one seed; what breaks a promise is told as a table
//   --seeds M        large worlds of so many seeds, from N or from a new one on; the first that fails is kept in simulator-failures/
//   --size S         how large they are: small or large (default large)
//   --twice          runs each of them twice, which must come to the same
//   --replay FILE    runs a world that was kept
//   --plan NAME      runs a large world that is about one guard; many of them where twists are drawn
//   --world NAME     the small worlds whose names contain it; all of them if nothing else is given
//   --schedules N    at most so many of each small world (default 100000)
//   --mutants        takes guards out of the code, one after the other, and says which are noticed
//   --mutant NAME    the same with those whose names contain it
const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    size: { type: 'string', default: 'large' },
    twice: { type: 'boolean', default: false },
    replay: { type: 'string' },
    plan: { type: 'string' },
    world: { type: 'string' },
    schedules: { type: 'string', default: '100000' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string', default: '' },
  },
});

const FAILURES = join(import.meta.dirname, '../../simulator-failures');
/** Worlds that shrinking a failing one may run. */
const SHRINK_RUNS = 400;
const TOLD_EVERY = 50;
/** Worlds of a plan in which twists are drawn. */
const SEEDS_OF_A_PLAN = 500;
const size = values.size === 'small' ? sizes.small : sizes.large;

if (values.replay !== undefined) await replayKept(values.replay);
else if (values.plan !== undefined) await runNamed(values.plan);
else if (values.seed !== undefined || values.seeds !== undefined) await searchSeeds();
else if (values.mutants || values.mutant !== '') await searchMutants(values.mutant);
else
  await searchWorlds(
    smallWorlds.filter(({ name }) => name.includes(values.world ?? '')),
    Number(values.schedules),
  );
process.exit();

async function replayKept(file: string): Promise<void> {
  const failing = await replay(file);
  console.log(tellFailing(failing));
  if (failing.result.broken !== undefined) process.exitCode = 1;
}

async function runNamed(name: string): Promise<void> {
  const plan = plans[name];
  if (!plan) throw new Error(`there is no plan "${name}": ${Object.keys(plans).join('; ')}`);
  for (const world of worldsOf(plan, SEEDS_OF_A_PLAN)) {
    const { broken } = await withoutRealWorld(() => runPlan(world));
    if (broken === undefined) continue;
    console.log(`broken: seed ${world.seed}: ${broken}`);
    process.exitCode = 1;
    return;
  }
  console.log(`exhausted: ${name}`);
}

async function searchSeeds(): Promise<void> {
  const startedAt = performance.now();
  const wanted = Number(values.seeds ?? 1);
  const isOver = ({ seeds, calls }: Total) => {
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    if (seeds % TOLD_EVERY === 0) console.log(`${seconds} s: ${seeds} seeds, ${calls} executions`);
    return seeds >= wanted;
  };
  const first = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
  console.log(`seeds from ${first} on`);
  const total = await runSeeds(seedsFrom(first), { size, twice: values.twice, isOver });
  sumUp(total, (performance.now() - startedAt) / 1000);
  for (const { seed, broken } of total.failures) {
    process.exitCode = 1;
    console.log(`broken: seed ${seed}: ${broken}`);
    const failing = await shrinkSeed(seed, size, SHRINK_RUNS);
    if (!failing) continue;
    console.log(tellFailing(failing));
    console.log(`kept in ${await keepFailing(FAILURES, failing)}`);
  }
}

function* seedsFrom(first: number): Generator<number> {
  for (let seed = first; ; seed++) yield seed;
}

function sumUp({ seeds, calls, answered, steps, livedMs, checked, endings, runsOfEach }: Total, seconds: number): void {
  const perSecond = (count: number) => ((count * runsOfEach) / seconds).toFixed(1);
  console.log(`${seeds} seeds in ${seconds.toFixed(1)} s: ${perSecond(seeds)} a second`);
  console.log(`${calls} executions, ${perSecond(calls)} a second; ${answered} calls were answered`);
  console.log(`${steps} steps, ${perSecond(steps)} a second; ${Math.round(livedMs / 1000)} s of simulated life`);
  console.log(`told: ${[...endings].map(([what, count]) => `${what} ${count}`).join(', ')}`);
  for (const [name, promise] of Object.entries(PROMISES))
    console.log(`checked ${Object.entries(checked).find(([key]) => key === name)?.[1]} times: ${promise}`);
}

async function searchWorlds(worlds: readonly SmallWorld[], schedulesAtMost: number): Promise<void> {
  for (const world of worlds) {
    const startedAt = performance.now();
    const { failure, exhausted, schedules, states, steps, checked } = await search(world, schedulesAtMost);
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
    console.log(
      `${exhausted ? 'exhausted' : 'not exhausted'}: ${world.name}: ${schedules} schedules, ${states} states, ${steps} steps, invariants checked ${checked} times, ${seconds} s`,
    );
    if (!failure) continue;
    console.log(`broken: ${failure.run.why}`);
    console.log(`schedule: ${toText(failure.schedule)}`);
    console.log(tell((await runSchedule(world.make, replaying(failure.schedule))).trace));
    process.exitCode = 1;
  }
}

async function searchMutants(named: string): Promise<void> {
  for await (const { mutant, caught, schedule, seconds } of tryMutants(named)) {
    console.log(
      `${caught === undefined ? 'NOT NOTICED' : 'noticed'} after ${seconds.toFixed(1)} s: ${mutant.name}${caught === undefined ? '' : `: ${caught} (${schedule})`}`,
    );
    if (caught === undefined) process.exitCode = 1;
  }
}
