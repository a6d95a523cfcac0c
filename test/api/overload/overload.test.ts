import { describe, expect, it } from 'vitest';
import { createOverload } from '../../../src/api/overload/overload.ts';
import { createOwnTime } from '../../support/own-time.ts';

const QUEUE_TIMEOUT_MS = 10_000;
const COUNTED_OVER_MS = 250;
/** Behind this wait half of the calls are taken, and behind the other one a quarter. */
const HALF_MS = 2000;
const QUARTER_MS = 2500;

describe('of the calls of one caller', () => {
  it.each([
    ['all are taken without a wait', 0, 1000],
    ['all are taken behind 10 % of QUEUE_TIMEOUT_MS', 1000, 1000],
    ['nine of ten are taken behind 12 %', 1200, 900],
    ['half are taken behind 20 %', HALF_MS, 500],
    ['one of ten is taken behind 28 %', 2800, 100],
    ['none is taken behind 30 %', 3000, 0],
    ['none is taken behind more than that', 300_000, 0],
  ])('%s', (_, delayMs, expected) => {
    const { ask } = open(delayMs);
    const taken = ask(null, 1000).length;
    expect(Math.abs(taken - expected)).toBeLessThanOrEqual(expected % 1000 === 0 ? 0 : 5);
  });

  it('those that are refused did not run, and may be sent again after the wait, in whole seconds and at least one', () => {
    const refusalBehind = (delayMs: number, timeoutMs?: number) => open(delayMs, timeoutMs).refusal('key');
    expect(refusalBehind(3000)).toMatchObject({
      noAnswer: { code: 'overloaded', mayHaveRun: false, reason: 'too-many-calls', params: { seconds: 3 } },
      retryAfterSeconds: 3,
    });
    expect(refusalBehind(3001)?.retryAfterSeconds).toBe(4);
    expect(refusalBehind(100, 200)?.retryAfterSeconds).toBe(1);
  });
});

describe('keys share what can be done', () => {
  it('one that asks for a tenth of the other is never refused while the other one is', () => {
    const shares = share({ small: 10, large: 100 }, { delayMs: HALF_MS, windows: 10 });
    expect(shares.small).toBe(1);
    expect(shares.large).toBeCloseTo(45 / 100, 1); // 55 of 110, less the 10
  });

  it('two that ask for the same are refused alike', () => {
    const shares = share({ one: 50, other: 50 }, { delayMs: HALF_MS, windows: 10 });
    expect(shares.one).toBeCloseTo(0.5, 1);
    expect(shares.other).toBeCloseTo(0.5, 1);
  });

  it('of three, what the smallest leaves is shared by the two others', () => {
    const shares = share({ small: 10, middle: 100, large: 200 }, { delayMs: QUARTER_MS, windows: 10 });
    expect(shares.small).toBe(1);
    expect(shares.middle).toBeCloseTo(33.75 / 100, 1); // 77.5 of 310, less the 10, for two
    expect(shares.large).toBeCloseTo(33.75 / 200, 1);
  });

  it('of three, two that ask for less than their share are never refused', () => {
    const shares = share({ small: 10, middle: 20, large: 270 }, { delayMs: HALF_MS, windows: 10 });
    expect(shares).toMatchObject({ small: 1, middle: 1 });
    expect(shares.large).toBeCloseTo(120 / 270, 1);
  });

  it('callers without a key are one of them', () => {
    const { ask, pass } = open(HALF_MS);
    for (let window = 0; window < 10; window++) {
      const [withKey, without] = [ask('key', 10), ask(null, 100)];
      if (window > 0) expect(withKey).toHaveLength(10);
      expect(without.length).toBeLessThan(70);
      pass(COUNTED_OVER_MS);
    }
  });

  it('one that calls seldom is not refused, however much another asks for', () => {
    const { ask, pass } = open(HALF_MS);
    let taken = 0;
    for (let second = 0; second < 20; second++) {
      for (let window = 0; window < 4; window++) {
        ask('large', 250);
        if (window === 3) taken += ask('small', 1).length;
        pass(COUNTED_OVER_MS);
      }
    }
    expect(taken).toBe(20);
  });

  it('one that is alone again has everything for itself', () => {
    const { ask, pass } = open(HALF_MS);
    ask('small', 10);
    ask('large', 100);
    pass(2 * COUNTED_OVER_MS);
    expect(ask('small', 1000).length).toBeCloseTo(500, -1);
  });

  it('behind 30 % nobody is taken, however little a key asks for', () => {
    expect(share({ small: 1, large: 100 }, { delayMs: 3000, windows: 1 })).toEqual({ small: 0, large: 0 });
  });
});

type Load = { delayMs: number; windows: number };

/** Each key asks for so many calls in a window, one after the other; the share of them that is taken, once they were counted. */
function share<Name extends string>(counts: Record<Name, number>, { delayMs, windows }: Load): Record<Name, number> {
  const { ask, pass } = open(delayMs);
  const names = Object.keys(counts).filter((name): name is Name => name in counts);
  const taken = new Map<Name, number>();
  for (let window = 0; window <= windows; window++) {
    for (const name of names) {
      const { length } = ask(name, counts[name]);
      if (window > 0) taken.set(name, (taken.get(name) ?? 0) + length);
    }
    pass(COUNTED_OVER_MS);
  }
  const shares = names.map((name) => [name, (taken.get(name) ?? 0) / (counts[name] * windows)]);
  return Object.fromEntries(shares);
}

/** An API behind whose backlog a new call would wait for so long. */
function open(delayMs: number, timeoutMs = QUEUE_TIMEOUT_MS) {
  const { run, pass } = createOwnTime();
  const tellArrivals = async () => new Map<string | null, number>();
  const backlog = { look: async () => {}, added: () => {}, delayMs: () => delayMs };
  const overload = run(() => createOverload({ backlog, tellArrivals, settings: { QUEUE_TIMEOUT_MS: timeoutMs } }));
  const refusal = (key: string | null) => run(() => overload.refusal(key));
  return {
    pass,
    refusal,
    /** Asks for so many calls of a key, and returns those that are taken. */
    ask: (key: string | null, count: number) =>
      Array.from({ length: count }, () => refusal(key)).filter((refused) => refused === undefined),
  };
}
