import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPendingCalls } from '../../../src/shared/runtime/pending-calls.ts';

describe('pending calls', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('ends a wait with the first value, and later ones change nothing', async () => {
    const calls = createPendingCalls<string>();
    const wait = calls.enter('a', 1000, () => 'late');
    expect(calls.settle('a', 'first')).toBe(true);
    expect(calls.settle('a', 'second')).toBe(false);
    await vi.advanceTimersByTimeAsync(2000);
    expect(await wait).toBe('first');
  });

  it('ends a wait that nobody settles at its deadline', async () => {
    const calls = createPendingCalls<string>();
    const wait = calls.enter('a', 1000, () => 'late');
    await vi.advanceTimersByTimeAsync(1000);
    expect(await wait).toBe('late');
    expect(calls.settle('a', 'too late')).toBe(false);
  });

  it('forgets whoever left, and leaves no timer', async () => {
    const calls = createPendingCalls<string>();
    const waits = ['a', 'b', 'c'].map((id) => calls.enter(id, 1000, () => 'late'));
    expect([calls.size, calls.has('b'), calls.ids()]).toEqual([3, true, ['a', 'b', 'c']]);
    for (const id of calls.ids()) calls.settle(id, id);
    expect(await Promise.all(waits)).toEqual(['a', 'b', 'c']);
    expect([calls.size, calls.has('b'), vi.getTimerCount()]).toEqual([0, false, 0]);
  });

  it('lets one id in once at a time', async () => {
    const calls = createPendingCalls<string>();
    const first = calls.enter('a', 1000, () => 'late');
    expect(() => calls.enter('a', 1000, () => 'late')).toThrow('a call already waits for a');
    calls.settle('a', 'first');
    const second = calls.enter('a', 1000, () => 'late');
    calls.settle('a', 'second');
    expect(await Promise.all([first, second])).toEqual(['first', 'second']);
  });
});
