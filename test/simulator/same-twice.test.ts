import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Deviation, replaying, runSchedule } from './search/schedule.ts';
import { claimScene } from './world/claim-scene.ts';
import { withoutRealWorld } from './world/no-real-world.ts';

/** Real clocks tell another time by then. */
const APART_MS = 25;

/** The state in which the scene is over, or where its schedule ends. */
async function lastState(schedule: ReadonlyMap<number, Deviation>): Promise<{ state: string; outcome: string }> {
  let last = { state: '', outcome: '' };
  const make = async () => {
    const scene = await claimScene({ parts: ['attempt 1', 'fence', 'client'] });
    const isOver = () => {
      const over = scene.isOver();
      if (over) last = { state: scene.state(), outcome: scene.outcome() };
      return over;
    };
    return { ...scene, isOver };
  };
  const { kind, why } = await withoutRealWorld(() => runSchedule(make, replaying(schedule)));
  expect([kind, why]).toEqual(['over', undefined]);
  return last;
}

describe('a scene that is run twice at different times of day comes to the same state', () => {
  test.each<[string, [number, Deviation][]]>([
    ['where the attempt comes first', []],
    ['where the fence comes first', [[0, { kind: 'switch', to: 'fence' }]]],
    ['where the attempt sleeps until it is too late', [[3, { kind: 'sleep', process: 'attempt 1', until: 1100 }]]],
    ['where the attempt dies', [[5, { kind: 'crash', process: 'attempt 1' }]]],
  ])('%s', async (_, deviations) => {
    const schedule = new Map(deviations);
    const first = await lastState(schedule);
    await delay(APART_MS);
    const second = await lastState(schedule);
    expect(first.state).not.toBe('');
    expect(second).toEqual(first);
  });

  test('the clock of this machine is its own again after a scene, also after one that fails', async () => {
    const { now } = Date;
    await lastState(new Map());
    expect(Date.now).toBe(now);
    const failing = async () => {
      const scene = await claimScene({ parts: ['attempt 1', 'client'] });
      return { ...scene, broken: () => 'it does not hold' };
    };
    const { kind } = await withoutRealWorld(() => runSchedule(failing, replaying(new Map())));
    expect([kind, Date.now]).toEqual(['broken', now]);
  });
});
