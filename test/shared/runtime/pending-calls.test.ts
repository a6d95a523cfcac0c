import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createWaitingRoom } from '../../../src/shared/runtime/pending-calls.ts';

describe('a waiting room', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends a wait with the first value, and later ones change nothing', async () => {
    const room = createWaitingRoom<string>();
    const wait = room.enter('a', 1000, () => 'late');
    expect(room.settle('a', 'first')).toBe(true);
    expect(room.settle('a', 'second')).toBe(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await wait).toBe('first');
  });

  it('ends a wait that nobody settles at its deadline', async () => {
    const room = createWaitingRoom<string>();
    const wait = room.enter('a', 1000, () => 'late');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await wait).toBe('late');
    expect(room.settle('a', 'too late')).toBe(false);
  });

  it('forgets whoever left, and leaves no timer', async () => {
    const room = createWaitingRoom<string>();
    const waits = ['a', 'b', 'c'].map((id) => room.enter(id, 1000, () => 'late'));
    expect([room.size, room.has('b'), room.ids()]).toEqual([3, true, ['a', 'b', 'c']]);
    for (const id of room.ids()) room.settle(id, id);
    expect(await Promise.all(waits)).toEqual(['a', 'b', 'c']);
    expect([room.size, room.has('b'), vi.getTimerCount()]).toEqual([0, false, 0]);
  });

  it('lets one id in once at a time', async () => {
    const room = createWaitingRoom<string>();
    const first = room.enter('a', 1000, () => 'late');
    expect(() => room.enter('a', 1000, () => 'late')).toThrow('somebody already waits for a');
    room.settle('a', 'first');
    const second = room.enter('a', 1000, () => 'late');
    room.settle('a', 'second');
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });
});
