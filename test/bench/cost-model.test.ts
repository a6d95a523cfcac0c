import { describe, expect, it } from 'vitest';
import { costsFrom, predict } from '../../bench/cost-model.ts';
import type { Window } from '../../bench/scale-window.ts';

const CALLERS = 100;

/** A machine on which an API more costs 100 µs a call and a worker more 200 µs; `slowness` times as much when it is slow. */
function windowOf(apis: number, workers: number, slowness = 1): Window {
  const cost = { api: 300 + 100 * apis, worker: 500 + 200 * workers, redis: 300, client: 100, caller: 50 };
  const slow = { ...cost, api: cost.api * slowness, worker: cost.worker * slowness };
  const all = { ...slow, redis: 300 * slowness, client: 100 * slowness, caller: 50 * slowness };
  return { apis, workers, perSecond: 1, failed: 0, why: '', cost: all, main: all, free: 2 };
}

const corners = [windowOf(1, 1), windowOf(4, 1), windowOf(1, 3), windowOf(4, 3)];
const conditions = { callers: CALLERS, free: 2 };

describe('the costs of a call', () => {
  it('between the corners are what each further API and worker adds', () => {
    const { cost } = costsFrom(corners)({ apis: 3, workers: 2 });
    expect(cost.api).toBeCloseTo(600);
    expect(cost.worker).toBeCloseTo(900);
    expect(cost.redis).toBeCloseTo(300);
  });

  it('come from the corners alone: a window elsewhere changes no prediction', () => {
    const strange = { ...windowOf(2, 2), cost: windowOf(2, 2, 50).cost, perSecond: 1_000_000 };
    const at = { apis: 2, workers: 2 };
    expect(predict(costsFrom([...corners, strange]), at, conditions)).toBe(predict(costsFrom(corners), at, conditions));
  });

  it('are medians: a round in which the machine was slow changes nothing', () => {
    const slow = corners.map(({ apis, workers }) => windowOf(apis, workers, 5));
    const costsOf = costsFrom([...corners, ...slow, ...corners]);
    expect(costsOf({ apis: 2, workers: 3 })).toEqual(costsFrom(corners)({ apis: 2, workers: 3 }));
  });
});

it('the cost of all processes together is the median of their sums, not the sum of their medians', () => {
  const odd = (api: number, worker: number): Window => ({
    ...windowOf(1, 1),
    cost: { ...windowOf(1, 1).cost, api, worker },
  });
  const { cost, total } = costsFrom([odd(100, 900), odd(900, 100), odd(100, 900), ...corners.slice(1)])({
    apis: 1,
    workers: 1,
  });
  expect(cost).toMatchObject({ api: 100, worker: 900 });
  expect(total).toBe(1450);
  const skewed = [odd(100, 900), odd(900, 100), odd(100, 100), ...corners.slice(1)];
  expect(costsFrom(skewed)({ apis: 1, workers: 1 })).toMatchObject({ cost: { api: 100, worker: 100 }, total: 1450 });
});

describe('a prediction', () => {
  const costsOf = costsFrom(corners);

  it('shares the free processors among all processes', () => {
    const two = predict(costsOf, { apis: 4, workers: 3 }, conditions);
    expect(two).toBeCloseTo(2e6 / (700 + 1100 + 450));
    expect(predict(costsOf, { apis: 4, workers: 3 }, { ...conditions, free: 1 })).toBeCloseTo(two / 2);
  });

  it('gives no main thread more than one processor', () => {
    const many = { ...conditions, free: 64 };
    expect(predict(costsOf, { apis: 1, workers: 1 }, many)).toBeCloseTo(1e6 / 700);
    expect(predict(costsOf, { apis: 4, workers: 3 }, many)).toBeCloseTo((3 * 1e6) / 1100);
  });
});
