import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { call, oldBackup, toClient } from './old-backup.ts';
import { type Plan, sizes, type Twist } from './search/plan.ts';
import { plain, plans, worldsOf } from './search/plans.ts';
import { runPlan, runSeed } from './search/random.ts';
import { keepFailing, replay, runSeeds } from './search/seeds.ts';
import { shrink } from './search/shrink.ts';
import { withoutRealWorld } from './world/no-real-world.ts';

const HOUR_MS = 3_600_000;

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

test('in 30 worlds with faults of all kinds every promise is kept', async ({ signal }) => {
  const total = await runSeeds(range(1, 30), { size: sizes.small, signal });
  expect(total.failures).toEqual([]);
  expect(total.seeds).toBe(30);
  const { once, didNotRun, told, exact, keyed, nothingLeft } = total.checked;
  expect(once).toBeGreaterThan(100);
  expect(didNotRun).toBeGreaterThan(240);
  expect(told).toBeGreaterThan(210);
  expect(exact).toBeGreaterThan(150);
  expect(keyed).toBeGreaterThan(30);
  expect(nothingLeft).toBeGreaterThanOrEqual(60);
  expect(total.answered).toBeGreaterThan(75);
});

test('a seed is the same world each time', async ({ signal }) => {
  const total = await runSeeds(range(101, 105), { size: sizes.small, twice: true, signal });
  expect(total.failures).toEqual([]);
  expect(total.seeds).toBe(5);
  const [one, other] = await withoutRealWorld(async () => [await once(111), await once(112)]);
  expect(one).not.toBe(other);

  async function once(seed: number): Promise<string> {
    return (await runSeed(seed, sizes.small)).hash();
  }
});

const run = (plan: Plan, twists: Iterable<[string, Twist]> = []) =>
  withoutRealWorld(() => runPlan(plan, { twists: new Map(twists) }));

test.each([
  ['a backup of less than a day, and a clock that is wrong by more', 22 * HOUR_MS, -26 * HOUR_MS, undefined],
  ['a backup of more than a day, and clocks that are right', 25 * HOUR_MS, 0, undefined],
  ['beyond the limit: both', 25 * HOUR_MS, -26 * HOUR_MS, 'a rule runs at most once'],
])('%s', async (_name, marksKeptMs, clockAheadMs, promise) => {
  const { broken, answered } = await run(oldBackup(marksKeptMs, { 'worker 1': clockAheadMs }));
  expect(answered).toBe(1);
  expect(broken?.split(':')[0]).toBe(promise);
});

test.each(Object.entries(plans))('%s', async (_, plan) => {
  const all: string[] = [];
  for (const world of worldsOf(plan, 5)) {
    const { broken, endings } = await withoutRealWorld(() => runPlan(world));
    expect(broken, `seed ${world.seed}`).toBeUndefined();
    all.push(...endings.keys());
  }
  expect(all.join()).toMatch(/answered|outcome-unknown|item/); // in one world all calls may come too early or too late
});

test('a call whose add fails after seconds was not added by anybody else meanwhile', async () => {
  const plan = plain(
    {
      queueTimeoutMs: 10_000,
      clients: [{ sdk: 'node', registered: false, lane: null, behaviour: { scansEveryMs: 6000 } }],
    },
    {
      calls: [{ ...call, at: 1000, target: toClient }],
      faults: [{ kind: 'store', at: 4000, back: 'whole', awayMs: 1500, copiedBeforeMs: 1 }],
      faultyMs: 12_000,
    },
  );
  // One after the other, each step of the API takes longer than the time after which it looks for its job, and the store is away when it ends.
  const told = new Set<string>();
  for (const step of range(1, 40)) {
    const { broken, endings } = await run(plan, [[`api 1 ${step}`, { kind: 'slow', ms: 3500 }]]);
    expect(broken, `step ${step}`).toBeUndefined();
    for (const ending of endings.keys()) told.add(ending);
  }
  expect([...told]).toContain('queue-unavailable');
});

test('calls to any client, one after the other: one that beats and never takes a request costs two at most', async () => {
  const looks = (scansEveryMs: number) => ({
    sdk: 'node' as const,
    registered: true,
    lane: null,
    behaviour: { scansEveryMs },
  });
  const clients = [looks(HOUR_MS), looks(200)];
  const calls = range(1, 12).map((n) => ({ ...call, n, at: 4000 * n, target: { kind: 'all' } as const }));
  const { broken, endings } = await run(plain({ workers: 2, clients }, { calls, faults: [], faultyMs: 60_000 }));
  expect(broken).toBeUndefined();
  expect(endings.get('not-picked-up') ?? 0).toBeLessThanOrEqual(2);
  expect(endings.get('answered')).toBeGreaterThanOrEqual(10);
});

test('a failing world is shrunk to what it fails by, and kept in a file that runs it again', async () => {
  const plan = oldBackup(25 * HOUR_MS, { 'worker 1': -26 * HOUR_MS });
  const more = [2, 3].map((n) => ({ ...call, n, at: 1500 + n, target: toClient }));
  const noisy = { ...plan, calls: [...plan.calls, ...more] };
  const twists: [string, Twist][] = [
    ['worker 1 40', { kind: 'slow', ms: 5 }],
    ['worker 1 m2', { kind: 'dropped' }],
  ];
  const result = await run(noisy, twists);
  const least = await withoutRealWorld(() => shrink({ plan: noisy, result }, 200));
  expect(least.result.broken).toContain('a rule runs at most once');
  expect(least.plan.calls).toHaveLength(1);
  expect(least.plan.faults).toHaveLength(3);
  expect(least.twists.size).toBe(0);
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const again = await replay(await keepFailing(folder, least));
  expect(again.result.hash()).toBe(least.result.hash());
});
