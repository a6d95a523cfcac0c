import { describe, expect, it, onTestFinished } from 'vitest';
import { createMemoryWorkerRegistry } from '../../../src/shared/queue/worker-registry.ts';
import { startUpkeep } from '../../../src/shared/runtime/upkeep.ts';
import { createGiveWay } from '../../../src/worker/batches/give-way.ts';
import { createOwnTimers } from '../../support/own-time.ts';

/** As often as calls are looked at. */
const CHECK_EVERY_MS = 250;
/** What one worker begins between two looks; a new call waits for 5 s behind 1,000. */
const BEGINS = 50;
const LONG = 1000;
const SECOND = 1000;

/** A worker that gives way, another one that begins calls, and a queue in which so many of them wait. */
function open() {
  const own = createOwnTimers();
  const workers = createMemoryWorkerRegistry();
  const world = { waiting: 0, begun: 0, isRunning: true, looks: 0, isAway: false };
  const queue = {
    async count() {
      world.looks++;
      if (world.isAway) throw new Error('the store is away');
      return { waiting: world.waiting, snoozed: 0, taken: 0 };
    },
  };
  const giveWay = own.run(() => createGiveWay({ workers }, { queue, isRunning: () => world.isRunning }));
  const upkeep = own.run(() => startUpkeep([giveWay.task], () => {}));
  onTestFinished(() => own.run(upkeep.stop));

  /** Lets so much time pass, in which the worker begins as many as it can. */
  async function passes(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += CHECK_EVERY_MS) {
      world.begun += BEGINS;
      const report = { name: 'worker', takesJobs: true, fault: null, busy: 0, begun: world.begun };
      await workers.report('worker', report);
      await own.pass(Math.min(CHECK_EVERY_MS, ms - passed));
    }
  }

  /** Asks every 50 ms for so long, and counts how often an item may be sent. */
  async function sentIn(ms: number): Promise<number> {
    let sent = 0;
    for (let passed = 0; passed < ms; passed += 50) {
      if (own.run(giveWay.maySend)) {
        own.run(giveWay.sent);
        sent++;
      }
      await own.pass(50);
    }
    return sent;
  }
  return { world, passes, sentIn };
}

describe('a batch', () => {
  it('is sent freely while nothing waits, and before anything is known', async () => {
    const { sentIn, passes } = open();
    expect(await sentIn(SECOND)).toBe(20);
    await passes(4 * SECOND);
    expect(await sentIn(SECOND)).toBe(20);
  });

  it('sends one item a second while more calls come than workers can begin, and not none', async () => {
    const { world, sentIn, passes } = open();
    world.waiting = LONG;
    await passes(4 * SECOND);
    world.waiting = 100 * LONG;
    await passes(CHECK_EVERY_MS);
    expect(await sentIn(10 * SECOND)).toBe(10);
  });

  it('is sent freely again as soon as a look finds the backlog gone', async () => {
    const { world, sentIn, passes } = open();
    world.waiting = LONG;
    await passes(4 * SECOND);
    expect(await sentIn(500)).toBe(1);
    world.waiting = 0;
    await passes(CHECK_EVERY_MS);
    expect(await sentIn(SECOND)).toBe(20);
  });

  it('gives way by an earlier look while the store is away', async () => {
    const { world, sentIn, passes } = open();
    world.waiting = 100 * LONG;
    await passes(4 * SECOND);
    world.isAway = true;
    await passes(SECOND);
    expect(await sentIn(3 * SECOND)).toBe(3);
  });
});

describe('a worker without a batch', () => {
  it('does not look, and looks within a quarter of a second once it has one', async () => {
    const { world, passes } = open();
    world.isRunning = false;
    await passes(10 * SECOND);
    expect(world.looks).toBe(0);
    world.isRunning = true;
    await passes(CHECK_EVERY_MS);
    expect(world.looks).toBe(1);
  });

  it('looks no more once the last one has ended', async () => {
    const { world, passes } = open();
    await passes(2 * SECOND);
    const before = world.looks;
    expect(before).toBeGreaterThan(4);
    world.isRunning = false;
    await passes(5 * SECOND);
    expect(world.looks).toBe(before);
  });
});
