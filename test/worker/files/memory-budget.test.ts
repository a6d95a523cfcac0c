import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createRoom } from '../../../src/worker/files/memory-budget.ts';

const KIB = 1024;

/** Takes room for each and tells, after a while, who got it, in which order. */
async function takeAll(room: ReturnType<typeof createRoom>, sizes: number[]) {
  const inside: { size: number; leave: () => void }[] = [];
  for (const size of sizes) void room.take(size).then((leave) => inside.push({ size, leave }));
  await settled();
  return inside;
}

/** Between one and the next there is a rest. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await setTimeout(1);
}

describe('room for large results', () => {
  it('lets so many bytes in, and the next ones in order as others leave', async () => {
    const inside = await takeAll(
      createRoom(100 * KIB),
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
    const inside = await takeAll(createRoom(100 * KIB), [100 * KIB, 100 * KIB, 16 * KIB, 1]);
    expect(inside.map(({ size }) => size)).toEqual(expect.arrayContaining([100 * KIB, 16 * KIB, 1]));
    expect(inside).toHaveLength(3);
  });

  it('one that is larger than all the room there is gets in when nobody else is', async () => {
    const inside = await takeAll(createRoom(100 * KIB), [500 * KIB, 20 * KIB]);
    expect(inside.map(({ size }) => size / KIB)).toEqual([500]);
    inside[0]?.leave();
    await settled();
    expect(inside.map(({ size }) => size / KIB)).toEqual([500, 20]);
  });

  it('lets others have their turn for as long as each one took', async () => {
    const room = createRoom(1000 * KIB);
    const entered: number[] = [];
    await Promise.all(
      [1, 2, 3].map(async () => {
        const leave = await room.take(20 * KIB);
        entered.push(performance.now());
        while (performance.now() - (entered.at(-1) ?? 0) < 50); // as judging does
        leave();
      }),
    );
    const [first = 0, second = 0, third = 0] = entered;
    expect(second - first).toBeGreaterThan(95);
    expect(third - second).toBeGreaterThan(95);
  });

  it('leaving twice gives nothing back twice', async () => {
    const inside = await takeAll(
      createRoom(100 * KIB),
      [60, 40, 60, 40].map((kib) => kib * KIB),
    );
    inside[1]?.leave();
    inside[1]?.leave();
    await settled();
    expect(inside).toHaveLength(2);
  });
});
