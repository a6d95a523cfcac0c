import { afterEach, describe, expect, it, vi } from 'vitest';
import { createUnusableResult } from '../../../src/worker/files/unusable-result.ts';

const KIB = 1024;
const incomplete = { kind: 'incomplete', message: 'ends too early' } as const;
const wrong = { kind: 'wrong', message: 'is not JSON' } as const;

describe('what lies where a result belongs and is none', () => {
  afterEach(() => void vi.useRealTimers());

  it('is read again when it changes, and once more when it seems not to', () => {
    const unusable = createUnusableResult();
    const looks = [1, 2, 3, 4, 5].map(() => {
      const isNews = unusable.mayBeNews({ stamp: 'a', bytes: 10 });
      if (isNews) unusable.note('a', incomplete);
      return isNews;
    });
    expect(looks).toEqual([true, true, false, false, false]);
    expect(unusable.mayBeNews({ stamp: 'b', bytes: 11 })).toBe(true);
  });

  it('is read once it stands still, when it is large and grew since it was read', () => {
    const unusable = createUnusableResult();
    expect(unusable.mayBeNews({ stamp: 'a', bytes: 100 * KIB })).toBe(true);
    unusable.note('a', incomplete);
    expect(unusable.mayBeNews({ stamp: 'b', bytes: 200 * KIB })).toBe(false);
    expect(unusable.mayBeNews({ stamp: 'c', bytes: 300 * KIB })).toBe(false);
    expect(unusable.mayBeNews({ stamp: 'c', bytes: 300 * KIB })).toBe(true);
  });

  it('is read at the last look, also when it grows, and also what looks as it did when it was read', () => {
    const unusable = createUnusableResult();
    for (const stamp of ['a', 'a']) {
      unusable.mayBeNews({ stamp, bytes: 100 * KIB });
      unusable.note(stamp, incomplete);
    }
    expect(unusable.mayBeNews({ stamp: 'a', bytes: 100 * KIB })).toBe(false);
    expect(unusable.mayBeNews({ stamp: 'a', bytes: 100 * KIB }, { lastLook: true })).toBe(true);
    expect(unusable.mayBeNews({ stamp: 'b', bytes: 200 * KIB }, { lastLook: true })).toBe(true);
  });

  it('is wrong for good when it has not changed for two seconds', () => {
    vi.useFakeTimers();
    const unusable = createUnusableResult();
    unusable.mayBeNews({ stamp: 'a', bytes: 10 });
    unusable.note('a', wrong);
    expect(unusable.wrongForGoodInMs).toBe(2000);
    vi.advanceTimersByTime(1500);
    unusable.mayBeNews({ stamp: 'b', bytes: 10 });
    expect(unusable.wrongForGoodInMs).toBeUndefined();
    unusable.note('b', wrong);
    expect(unusable.wrongForGoodInMs).toBe(2000);
    vi.advanceTimersByTime(2500);
    expect([unusable.wrongForGoodInMs, unusable.problem]).toEqual([0, 'is not JSON']);
  });

  it('is never wrong for good while it is only incomplete, or gone', () => {
    vi.useFakeTimers();
    const unusable = createUnusableResult();
    unusable.mayBeNews({ stamp: 'a', bytes: 10 });
    unusable.note('a', incomplete);
    vi.advanceTimersByTime(5000);
    expect([unusable.wrongForGoodInMs, unusable.problem]).toEqual([undefined, 'ends too early']);
    unusable.note('a', wrong);
    unusable.forget();
    expect([unusable.wrongForGoodInMs, unusable.problem]).toEqual([undefined, undefined]);
  });
});
