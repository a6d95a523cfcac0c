import { describe, expect, it } from 'vitest';
import { createLookSchedule } from '../../../src/worker/files/look-schedule.ts';

const POLL_MS = 1000;

describe('when a directory is listed next', () => {
  it('without events: after a tenth of how long its youngest wait is open, from 5 ms up to the poll interval', () => {
    const { schedule, pace } = at(100_000);
    const gaps = [0, 10, 700, 5000, 60_000].map((openMs) => schedule.gapMs(pace({ youngestAt: 100_000 - openMs })));
    expect(gaps).toEqual([5, 5, 70, 500, 1000]);
  });

  it('with events: once per poll interval, however young its waits are', () => {
    const { schedule, pace } = at(100_000);
    expect(schedule.gapMs(pace({ eventsArrive: true }))).toBe(POLL_MS);
  });

  it('a listing that takes long is followed by a gap ten times as long, but not longer than 10 s', () => {
    const { schedule, pace } = at(100_000);
    expect(schedule.gapMs(pace({ lastTookMs: 200 }))).toBe(2000);
    expect(schedule.gapMs(pace({ lastTookMs: 5000 }))).toBe(10_000);
  });

  it('listings of many directories together take a tenth of the time: beyond that all gaps grow, until it is quiet', () => {
    let now = 100_000;
    const schedule = createLookSchedule(POLL_MS, () => now);
    const young = () => ({ eventsArrive: false, youngestAt: now, lookedAt: now, lastTookMs: 0 });
    for (let directory = 0; directory < 100; directory++) schedule.took(50);
    expect(schedule.gapMs(young())).toBe(25);
    now += 60_000;
    expect(schedule.gapMs(young())).toBe(5);
  });
});

function at(time: number) {
  const pace = (more: Partial<{ eventsArrive: boolean; youngestAt: number; lastTookMs: number }> = {}) => ({
    eventsArrive: false,
    youngestAt: time,
    lookedAt: 0,
    lastTookMs: 0,
    ...more,
  });
  return { schedule: createLookSchedule(POLL_MS, () => time), pace };
}
