import { describe, expect, test } from 'vitest';
import { type Bounds, explore } from './search/explore.ts';
import { replaying, runSchedule } from './search/schedule.ts';
import { tell } from './search/tell.ts';
import { search, smallWorlds } from './small-worlds.ts';
import { claimScene } from './world/claim-scene.ts';
import { withoutRealWorld } from './world/no-real-world.ts';

/** More than any of the quick ones has. */
const SCHEDULES = 200_000;

describe('every order of two who take part, and one fault', () => {
  for (const world of smallWorlds.filter(({ isQuick }) => isQuick))
    test(world.name, async ({ signal }) => {
      const { exhausted, failure, checked } = await search(world, SCHEDULES, signal);
      const told = failure && `${failure.run.why}\n${tell(failure.run.trace)}`;
      expect(told).toBeUndefined();
      expect(exhausted).toBe(true);
      expect(checked).toBeGreaterThan(0);
    });
});

describe('the search', () => {
  const make = () => claimScene({ parts: ['attempt 1', 'client', 'twin'], client: { deletes: 'last' } });

  test('finds that two clients in one directory run the same when they delete too late', async ({ signal }) => {
    const found = await withoutRealWorld(() => explore(make, { preemptions: 1, faults: 0, signal }));
    expect(found.failure?.run.why).toBe('the rule ran 2 times');
    const again = await withoutRealWorld(() => runSchedule(make, replaying(found.failure?.schedule ?? new Map())));
    expect(again.why).toBe('the rule ran 2 times');
    expect(again.trace).toEqual(found.failure?.run.trace);
  });

  test('does not find it without a preemption', async ({ signal }) => {
    const found = await withoutRealWorld(() => explore(make, { preemptions: 0, faults: 0, signal }));
    expect(found).toMatchObject({ exhausted: true, failure: undefined });
  });

  test('leaves out no outcome', async ({ signal }) => {
    const bounds = { preemptions: 1, faults: 1, crashes: true, hits: ['attempt 1'], signal };
    const all = await outcomesOf({ ...bounds, everyStepCounts: true });
    expect([...(await outcomesOf(bounds))].sort()).toEqual([...all].sort());
    expect(all.size).toBeGreaterThan(1);
  });
});

async function outcomesOf(bounds: Bounds): Promise<Set<string>> {
  const outcomes = new Set<string>();
  const make = async () => {
    const scene = await claimScene({ parts: ['attempt 1', 'linker', 'client'] });
    const isOver = () => {
      const over = scene.isOver();
      if (over) outcomes.add(scene.outcome());
      return over;
    };
    return { ...scene, isOver };
  };
  const { exhausted } = await withoutRealWorld(() => explore(make, bounds));
  expect(exhausted).toBe(true);
  return outcomes;
}
