import { describe, expect, it } from 'vitest';
import { createClientSlots } from '../../../src/worker/placement/client-slots.ts';
import { eventually } from '../../support/eventually.ts';

const soon = () => Date.now() + 100;
const later = () => Date.now() + 10_000;
const always = () => true;

describe('places at a client', () => {
  it('are taken up to the limit, each client for itself', async () => {
    const slots = createClientSlots({ limit: 2, waitingLimit: 100, othersIn: () => 0 });
    expect(await slots.acquire('a', later(), always)).toBe('taken');
    expect(await slots.acquire('a', later(), always)).toBe('taken');
    expect(await slots.acquire('a', soon(), always)).toBe('none');
    expect(await slots.acquire('b', soon(), always)).toBe('taken');
    expect([slots.inUse('a'), slots.inUse('b'), slots.inUse('c')]).toEqual([2, 1, 0]);
  });

  it('are given on when one is free', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    await slots.acquire('a', later(), always);
    const next = slots.acquire('a', later(), always);
    slots.release('a');
    expect(await next).toBe('taken');
    expect(slots.inUse('a')).toBe(1);
  });

  it('are never given twice, however many wait for one', async () => {
    const slots = createClientSlots({ limit: 3, waitingLimit: 100, othersIn: () => 0 });
    let [open, most] = [0, 0];
    const work = async () => {
      if ((await slots.acquire('a', later(), always)) !== 'taken') throw new Error('no place');
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      slots.release('a');
    };
    await Promise.all(Array.from({ length: 30 }, work));
    expect([most, slots.inUse('a')]).toEqual([3, 0]);
  });

  it('that others have count as well', async () => {
    let othersOpen = 1;
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => othersOpen });
    const waiting = slots.acquire('a', later(), always);
    othersOpen = 0;
    expect(await waiting).toBe('taken');
  });

  it('are not waited for by those who should not go on', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    slots.occupy('a');
    let goOn = true;
    const waiting = slots.acquire('a', later(), () => goOn);
    goOn = false;
    expect(await waiting).toBe('none');
  });

  it('are waited for by so many and no more', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 2, othersIn: () => 0 });
    slots.occupy('a');
    const waiting = [slots.acquire('a', later(), always), slots.acquire('a', later(), always)];
    expect(await slots.acquire('a', later(), always)).toBe('crowded');
    expect(await slots.acquire('b', later(), always)).toBe('taken');
    slots.release('a');
    await Promise.race(waiting);
    slots.release('a');
    expect(await Promise.all(waiting)).toEqual(['taken', 'taken']);
    slots.release('a');
    expect(await slots.acquire('a', later(), always)).toBe('taken');
  });

  it('that had to be taken are given back like others', async () => {
    const slots = createClientSlots({ limit: 1, waitingLimit: 100, othersIn: () => 0 });
    slots.occupy('a');
    slots.occupy('a');
    expect(slots.inUse('a')).toBe(2);
    slots.release('a');
    slots.release('a');
    slots.release('a');
    expect(slots.inUse('a')).toBe(0);
    await eventually(async () => expect(await slots.acquire('a', soon(), always)).toBe('taken'));
  });
});
