import { describe, expect, it } from 'vitest';
import { createClientSlots } from '../../../src/worker/placement/client-slots.ts';
import { eventually } from '../../support/eventually.ts';

const of = (mockId: string, key: string | null = null) => ({ mockId, key });
const soon = () => ({ deadline: Date.now() + 100, goOn: () => true });
const later = () => ({ deadline: Date.now() + 10_000, goOn: () => true });

describe('slots at a client', () => {
  it('are taken up to the limit, each client for itself', async () => {
    const slots = createClientSlots({ limit: 2, waitingLimit: 100, othersIn: () => 0 });
    expect(await slots.acquire(of('1'), 'a', later())).toBe('taken');
    expect(await slots.acquire(of('2'), 'a', later())).toBe('taken');
    expect(await slots.acquire(of('3'), 'a', soon())).toBe('none');
    expect(await slots.acquire(of('4'), 'b', soon())).toBe('taken');
    expect([slots.inUse('a'), slots.inUse('b'), slots.inUse('c')]).toEqual([2, 1, 0]);
  });

  it('are given on when one is free', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    await slots.acquire(of('1'), 'a', later());
    const next = slots.acquire(of('2'), 'a', later());
    slots.release('1');
    expect(await next).toBe('taken');
    expect(slots.inUse('a')).toBe(1);
  });

  it('of one key leave places for others, and those of the next key as well', async () => {
    const slots = createClientSlots({ limit: 500, waitingLimit: 0, othersIn: () => 0 });
    const taken = async (key: string | null) => {
      let count = 0;
      while ((await slots.acquire(of(`${key}-${count}`, key), 'a', soon())) === 'taken') count++;
      return count;
    };
    expect([await taken('first'), await taken('second'), await taken('third')]).toEqual([375, 94, 24]);
    slots.release('first-0');
    expect(await slots.acquire(of('again', 'first'), 'a', soon())).toBe('crowded');
    expect(await slots.acquire(of('new', 'fourth'), 'a', soon())).toBe('taken');
    // Where no key is needed, all are one, and may have them all.
    expect(await taken(null)).toBe(500 - 375 + 1 - 94 - 24 - 1);
  });

  it('are never given twice, however many wait for one', async () => {
    const slots = createClientSlots({ limit: 3, waitingLimit: 100, othersIn: () => 0 });
    let [open, most] = [0, 0];
    const work = async (_: unknown, index: number) => {
      if ((await slots.acquire(of(String(index)), 'a', later())) !== 'taken') throw new Error('no slot');
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      slots.release(String(index));
    };
    await Promise.all(Array.from({ length: 30 }, work));
    expect([most, slots.inUse('a')]).toEqual([3, 0]);
  });

  it('are given in the order in which they were asked for, also before one who comes when one is free', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    slots.occupy(of('0'), 'a');
    const order: string[] = [];
    const waitFor = async (mockId: string) => {
      expect(await slots.acquire(of(mockId), 'a', later())).toBe('taken');
      order.push(mockId);
      slots.release(mockId);
    };
    const waiting = [waitFor('1'), waitFor('2')];
    slots.release('0');
    await Promise.all([...waiting, waitFor('3')]);
    expect(order).toEqual(['1', '2', '3']);
  });

  it('that others have count as well', async () => {
    let othersOpen = 1;
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => othersOpen });
    const waiting = slots.acquire(of('1'), 'a', later());
    othersOpen = 0;
    expect(await waiting).toBe('taken');
  });

  it('are not waited for by those who should not go on', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    slots.occupy(of('1'), 'a');
    let goOn = true;
    const waiting = slots.acquire(of('2'), 'a', { ...later(), goOn: () => goOn });
    goOn = false;
    expect(await waiting).toBe('none');
  });

  it('are waited for by so many and no more', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 2, othersIn: () => 0 });
    slots.occupy(of('1'), 'a');
    const waiting = ['2', '3'].map(async (id) => ({ id, got: await slots.acquire(of(id), 'a', later()) }));
    expect(await slots.acquire(of('4'), 'a', later())).toBe('crowded');
    expect(await slots.acquire(of('5'), 'b', later())).toBe('taken');
    slots.release('1');
    const first = await Promise.race(waiting);
    slots.release(first.id);
    expect((await Promise.all(waiting)).map(({ got }) => got)).toEqual(['taken', 'taken']);
    for (const id of ['2', '3']) slots.release(id);
    expect(await slots.acquire(of('4'), 'a', later())).toBe('taken');
  });

  it('that had to be taken are given back like others, once', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    slots.occupy(of('1'), 'a');
    slots.occupy(of('2'), 'a');
    expect(slots.inUse('a')).toBe(2);
    for (const id of ['1', '2', '2']) slots.release(id);
    expect(slots.inUse('a')).toBe(0);
    await eventually(async () => expect(await slots.acquire(of('3'), 'a', soon())).toBe('taken'));
  });

  it('are one for each execution: who was chosen, took its slot, and found another claim has it where the claim is', async () => {
    const slots = createClientSlots({ limit: 5, waitingLimit: 100, othersIn: () => 0 });
    slots.choose('1', 'a');
    expect([slots.load('a'), slots.inUse('a'), slots.ownLoad('a')]).toEqual([1, 0, 1]);
    await slots.acquire(of('1'), 'a', later());
    expect([slots.load('a'), slots.inUse('a'), slots.ownLoad('a')]).toEqual([1, 1, 1]);
    slots.occupy(of('1'), 'b');
    expect([slots.load('a'), slots.load('b')]).toEqual([0, 1]);
    slots.release('1');
    expect([slots.load('a'), slots.load('b')]).toEqual([0, 0]);
  });
});
