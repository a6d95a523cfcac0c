import { describe, expect, it } from 'vitest';
import { closedThroughput, responseUs, type Station, waits } from '../../bench/queueing-model.ts';

const station = (serviceUs: number, servers: number): Station => ({ name: 'any', serviceUs, servers });

describe('an open queue', () => {
  it.each([
    { load: 0.5, servers: 1, known: 0.5 },
    { load: 1, servers: 2, known: 1 / 3 },
    { load: 2, servers: 3, known: 4 / 9 },
    { load: 8, servers: 10, known: 0.409 },
  ])('of $servers servers, $load of them busy, makes a share of $known wait (tables of Erlang C)', (row) => {
    expect(waits(row.load, row.servers)).toBeCloseTo(row.known, 3);
  });

  it('of one server takes 1 / (its rate - the rate of calls)', () => {
    expect(responseUs(800, station(1000, 1))).toBeCloseTo(5000, 6);
  });

  it('of two servers, half used, takes 4/3 of the service', () => {
    expect(responseUs(1000, station(1000, 2))).toBeCloseTo(4000 / 3, 6);
  });

  it('takes for ever once it is full', () => {
    expect(responseUs(2000, station(1000, 2))).toBe(Number.POSITIVE_INFINITY);
    expect(responseUs(1999, station(1000, 2))).toBeLessThan(Number.POSITIVE_INFINITY);
  });
});

describe('a closed network', () => {
  const stations = [station(2000, 2), station(800, 1)];

  it('lets many callers have what the fullest station lets through', () => {
    expect(closedThroughput(100, 2000, stations)).toBe(1000);
    expect(closedThroughput(100, 2000, [...stations, station(1250, 1)])).toBe(800);
  });

  it('lets one caller have one call after the other', () => {
    expect(closedThroughput(1, 2000, stations)).toBe(500);
  });

  it('never promises less than exact mean value analysis of one queue and a delay, and with many callers the same', () => {
    for (const callers of [1, 5, 100]) {
      const bound = closedThroughput(callers, 1000 + 4000, [station(1000, 1)]);
      const exact = machineRepair(callers, 1000, 4000);
      expect(bound).toBeGreaterThanOrEqual(exact * 0.999_999);
      if (callers !== 5) expect(bound / exact).toBeCloseTo(1, 5);
    }
  });
});

/** Calls a second through one queue after a delay, by the recursion of mean value analysis. */
function machineRepair(callers: number, serviceUs: number, delayUs: number): number {
  let queue = 0;
  let perUs = 0;
  for (let present = 1; present <= callers; present++) {
    const timeUs = serviceUs * (1 + queue);
    perUs = present / (timeUs + delayUs);
    queue = perUs * timeUs;
  }
  return perUs * 1e6;
}
