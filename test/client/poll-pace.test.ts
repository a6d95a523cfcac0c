import { describe, expect, test } from 'vitest';
import { createPollPace } from '../../src/client/requests/poll-pace.ts';

const POLL_MS = 2000;

describe('how often a client looks for requests', () => {
  test('without events: often for a minute after a request, then once a second', () => {
    const { pace, advance } = start();
    expect(pace.gapMs()).toBe(1000);
    pace.polled(['a.json'], 0);
    advance(59_000);
    expect(pace.gapMs()).toBe(50);
    advance(2000);
    expect(pace.gapMs()).toBe(1000);
  });

  test('with events: as often as it polls', () => {
    const { pace } = start();
    pace.event('a.json');
    expect(pace.gapMs()).toBe(POLL_MS);
  });

  test('the event of taking a request away that a poll had found proves nothing', () => {
    const { pace } = start();
    pace.polled(['a.json'], 0);
    pace.event('a.json');
    expect(pace.eventsArrive).toBe(false);
  });

  test('a poll takes a tenth of the time at most, and one that takes very long is followed by 10 s', () => {
    const { pace } = start();
    pace.polled(['a.json'], 300);
    expect(pace.gapMs()).toBe(3000);
    pace.polled(['a.json'], 5000);
    expect(pace.gapMs()).toBe(10_000);
  });
});

function start() {
  let now = 100_000;
  const pace = createPollPace(POLL_MS, () => now);
  return {
    pace,
    advance: (ms: number) => {
      now += ms;
    },
  };
}
