import { describe, expect, it } from 'vitest';
import type { State } from '../../../src/shared/contract/endings/states.ts';
import { timingsOf } from '../../../src/shared/contract/execution-record.ts';

const reached = (...steps: [State, number][]) => steps.map(([state, at]) => ({ state, at }));

describe('where the time of an execution went', () => {
  it('is told part by part', () => {
    const history = reached(['queued', 100], ['dispatched', 110], ['picked-up', 150], ['succeeded', 400]);
    expect(timingsOf({ history, answeredAt: 390 })).toEqual({
      queued: 10,
      pickUp: 40,
      running: 240,
      noticing: 10,
      total: 300,
    });
  });

  it('of a client that was too quick to be seen picking up is not split', () => {
    const history = reached(['queued', 100], ['dispatched', 110], ['succeeded', 130]);
    expect(timingsOf({ history, answeredAt: 128 })).toMatchObject({ pickUp: null, running: 18, noticing: 2 });
  });

  it('that is on its way is told as far as it got', () => {
    expect(timingsOf({ history: reached(['queued', 100]), answeredAt: null })).toEqual({
      queued: null,
      pickUp: null,
      running: null,
      noticing: null,
      total: null,
    });
    const history = reached(['queued', 100], ['dispatched', 110], ['picked-up', 150]);
    expect(timingsOf({ history, answeredAt: null })).toMatchObject({ queued: 10, pickUp: 40, running: null });
  });

  it('that timed out went into waiting for the pick-up, or into running', () => {
    const waited = reached(['queued', 100], ['dispatched', 110], ['timed-out', 60_110]);
    expect(timingsOf({ history: waited, answeredAt: null })).toMatchObject({ pickUp: 60_000, running: null });
    const ran = reached(['queued', 100], ['dispatched', 110], ['picked-up', 200], ['timed-out', 60_110]);
    expect(timingsOf({ history: ran, answeredAt: null })).toMatchObject({
      pickUp: 90,
      running: 59_910,
      noticing: null,
    });
  });

  it('is never less than nothing, whatever the clocks say', () => {
    const history = reached(['queued', 200], ['dispatched', 110], ['succeeded', 150]);
    expect(timingsOf({ history, answeredAt: 120 })).toMatchObject({ queued: 0, total: 0 });
  });
});
