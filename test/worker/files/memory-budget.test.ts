import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createMemoryBudget } from '../../../src/worker/files/results/result-file.ts';

const KIB = 1024;

/** Acquires memory for each and tells, after a while, who got it, in which order. */
async function takeAll(budget: ReturnType<typeof createMemoryBudget>, sizes: number[]) {
  const inside: { size: number; leave: () => void }[] = [];
  for (const size of sizes) void budget.acquire(size).then(({ release }) => inside.push({ size, leave: release }));
  await settled();
  return inside;
}

/** Between one and the next there is a rest. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setTimeout(1);
}

describe('the memory for large results', () => {
  it('lets so many bytes in, and the next ones in order as others leave', async () => {
    const inside = await takeAll(
      createMemoryBudget(100 * KIB),
      [60, 50, 40, 30].map((kib) => kib * KIB),
    );
    expect(inside.map(({ size }) => size / KIB)).toEqual([60]);
    inside[0]?.leave();
    await settled();
    expect(inside.map(({ size }) => size / KIB)).toEqual([60, 50, 40]);
    inside[1]?.leave();
    await settled();
    expect(inside.map(({ size }) => size / KIB)).toEqual([60, 50, 40, 30]);
  });

  it('small ones never wait', async () => {
    const inside = await takeAll(createMemoryBudget(100 * KIB), [100 * KIB, 100 * KIB, 16 * KIB, 1]);
    expect(inside.map(({ size }) => size)).toEqual(expect.arrayContaining([100 * KIB, 16 * KIB, 1]));
    expect(inside).toHaveLength(3);
  });

  it('one that is larger than the whole budget gets in when nobody else is', async () => {
    const inside = await takeAll(createMemoryBudget(100 * KIB), [500 * KIB, 20 * KIB]);
    expect(inside.map(({ size }) => size / KIB)).toEqual([500]);
    inside[0]?.leave();
    await settled();
    expect(inside.map(({ size }) => size / KIB)).toEqual([500, 20]);
  });

  it('lets others have their turn for as long as each one took', async () => {
    const budget = createMemoryBudget(1000 * KIB);
    const entered: number[] = [];
    await Promise.all(
      [1, 2, 3].map(async () => {
        const lease = await budget.acquire(20 * KIB);
        entered.push(performance.now());
        while (performance.now() - (entered.at(-1) ?? 0) < 50); // as judging does
        lease.release();
      }),
    );
    const [first = 0, second = 0, third = 0] = entered;
    expect(second - first).toBeGreaterThan(95);
    expect(third - second).toBeGreaterThan(95);
  });

  it('one that gives up waiting takes nothing, and lets the next one in', async () => {
    const budget = createMemoryBudget(100 * KIB);
    const first = await budget.acquire(100 * KIB);
    const abort = new AbortController();
    const second = budget.acquire(90 * KIB, abort.signal);
    const third = budget.acquire(100 * KIB);
    abort.abort(new Error('no longer wanted'));
    await expect(second).rejects.toThrow('no longer wanted');
    first.release();
    (await third).release();
  });

  it('leaving twice gives nothing back twice', async () => {
    const inside = await takeAll(
      createMemoryBudget(100 * KIB),
      [60, 40, 60, 40].map((kib) => kib * KIB),
    );
    inside[1]?.leave();
    inside[1]?.leave();
    await settled();
    expect(inside).toHaveLength(2);
  });
});
