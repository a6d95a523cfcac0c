import { describe, expect, it } from 'vitest';
import { createPollSchedule, gapOfWait } from '../../../src/worker/files/watch.ts';

const POLL_MS = 1000;

describe('when a directory is listed next', () => {
  it('without events: after a tenth of how long its youngest wait is open, from 5 ms up to the poll interval', () => {
    const { schedule, pace } = at(100_000);
    const gaps = [0, 10, 700, 5000, 60_000].map(
      (openMs) => schedule.gap(pace({ youngestAt: 100_000 - openMs }), null).ms,
    );
    expect(gaps).toEqual([5, 5, 70, 500, 1000]);
  });

  it('where few wait: when the next of their results is due, from 5 ms up to the poll interval', () => {
    const { schedule, pace } = at(100_000);
    const gaps = [-20, 30, 70, 6000].map((dueMs) => schedule.gap(pace({ youngestAt: 0 }), 100_000 + dueMs).ms);
    expect(gaps).toEqual([5, 30, 70, 1000]);
  });

  it('with events: once per poll interval, however young its waits are', () => {
    const { schedule, pace } = at(100_000);
    expect(schedule.gap(pace({ eventsArrive: true }), null).ms).toBe(POLL_MS);
  });

  it('listings that take long are followed by gaps ten times as long, but not longer than 10 s', () => {
    const { schedule, pace } = at(100_000);
    expect(schedule.gap(pace({ tookMs: [200, 300] }), null).ms).toBe(2000);
    expect(schedule.gap(pace({ tookMs: [5000, 4000] }), null).ms).toBe(10_000);
  });

  it('one listing that was held up is followed by a gap as short as before', () => {
    const { schedule, pace } = at(100_000);
    expect(schedule.gap(pace({ tookMs: [20, 500] }), null).ms).toBe(200);
  });

  it('listings of many directories together take a tenth of the time: beyond that all gaps grow, until it is quiet', () => {
    let now = 100_000;
    const schedule = createPollSchedule(POLL_MS, () => now);
    const young = () => ({ eventsArrive: false, youngestAt: now, polledAt: now, tookMs: [0, 0] as const });
    for (let directory = 0; directory < 100; directory++) schedule.took(50, 1);
    expect(schedule.gap(young(), null).ms).toBe(25);
    now += 60_000;
    expect(schedule.gap(young(), null).ms).toBe(5);
  });

  it('however many directories there are, polls do not take more than a tenth of the time for long', () => {
    let now = 100_000;
    const schedule = createPollSchedule(POLL_MS, () => now);
    const directories = Array.from({ length: 400 }, (_, number) => ({ dueAt: now + number, stretched: 1 }));
    const endsAt = now + 120_000;
    const shares: number[] = [];
    for (;;) {
      const [next] = directories.toSorted((a, b) => a.dueAt - b.dueAt);
      if (!next || next.dueAt > endsAt) break;
      now = next.dueAt;
      schedule.took(2, next.stretched);
      const gap = schedule.gap({ eventsArrive: false, youngestAt: 0, polledAt: now, tookMs: [2, 2] }, null);
      next.stretched = gap.stretched;
      next.dueAt = now + gap.ms;
      if (now > endsAt - 60_000) shares.push(schedule.share());
    }
    expect(Math.max(...shares)).toBeLessThan(0.12);
    expect(Math.min(...shares)).toBeGreaterThan(0.08);
  });
});

describe('when the result of one wait is looked for next', () => {
  it('before the client has answered once: after a tenth of how long the wait is open', () => {
    expect([10, 700, 60_000].map((openMs) => gapOfWait(openMs, null))).toEqual([1, 70, 6000]);
  });

  it('after that: seldom until it has taken as long as the last time, then often, then as at first', () => {
    expect([100, 400, 600, 665, 700, 1399].map((openMs) => Math.round(gapOfWait(openMs, 700)))).toEqual([
      20, 80, 65, 33, 35, 70,
    ]);
    expect(gapOfWait(1401, 700)).toBeCloseTo(140.1);
  });

  it('a client that takes as long as the last time is noticed within a twentieth of that, however long it takes', () => {
    for (const rule of [100, 700, 20_000]) expect(lateness(rule, rule)).toBeLessThan(0.06);
    for (const rule of [100, 700, 20_000])
      for (const last of [1, 50, 3000]) expect(lateness(rule, last)).toBeLessThan(0.21);
  });
});

/** How much later than its rule took, as a share of that, the polls notice an answer. */
function lateness(ruleMs: number, lastMs: number): number {
  let openMs = 5;
  while (openMs < ruleMs) openMs += Math.max(gapOfWait(openMs, lastMs), 5);
  return openMs / ruleMs - 1;
}

function at(time: number) {
  const pace = (more: Partial<{ eventsArrive: boolean; youngestAt: number; tookMs: [number, number] }> = {}) => ({
    eventsArrive: false,
    youngestAt: time,
    polledAt: 0,
    tookMs: [0, 0] as const,
    ...more,
  });
  return { schedule: createPollSchedule(POLL_MS, () => time), pace };
}
