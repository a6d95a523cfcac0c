import { parseArgs } from 'node:util';
import { tryMutants } from './mutants/run-mutants.ts';
import { replaying, runSchedule, toText } from './search/schedule.ts';
import { tell } from './search/tell.ts';
import { type SmallWorld, search, smallWorlds } from './small-worlds.ts';

// `npm run simulate`: searches simulated worlds for a schedule that breaks a promise.
//   --world NAME     the small worlds whose names contain it; all of them if missing
//   --seconds N      at most so long for each small world (default 60)
//   --mutants [NAME] takes guards out of the code, one after the other, and says which are noticed
const { values } = parseArgs({
  options: {
    world: { type: 'string' },
    seconds: { type: 'string', default: '60' },
    mutants: { type: 'boolean', default: false },
    mutant: { type: 'string', default: '' },
  },
});

if (values.mutants || values.mutant !== '') await searchMutants(values.mutant);
else
  await searchWorlds(
    smallWorlds.filter(({ name }) => name.includes(values.world ?? '')),
    Number(values.seconds) * 1000,
  );
process.exit();

async function searchWorlds(worlds: readonly SmallWorld[], withinMs: number): Promise<void> {
  for (const world of worlds) {
    const startedAt = performance.now();
    const { failure, exhausted, schedules, states, steps, checked } = await search(world, withinMs);
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
  for await (const { mutant, caught, seconds } of tryMutants(named)) {
    console.log(
      `${caught === undefined ? 'NOT NOTICED' : 'noticed'} after ${seconds.toFixed(1)} s: ${mutant.name}${caught === undefined ? '' : `: ${caught}`}`,
    );
    if (caught === undefined) process.exitCode = 1;
  }
}
