import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { CLAIM_KEPT_MS } from '../../src/shared/contract/claim-age.ts';
import { createClaims } from '../../src/worker/files/claims/claims.ts';
import { createSharedDirectory } from '../../src/worker/files/directory/shared-directory.ts';
import { createFileClock } from '../../src/worker/files/file-clock.ts';
import { createSweep } from '../../src/worker/upkeep/sweep.ts';
import { eventually } from '../support/eventually.ts';
import { memoryStore } from '../support/memory-stores.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { sweepLater } from '../support/sweep-later.ts';
import { brokenPromises } from './broken-promises.ts';
import { playScenario } from './play-scenario.ts';
import { isCalm, type Scenario, scenario } from './scenario.ts';
import { isFull, tryCases } from './try-cases.ts';
import { startWorld, type World } from './world.ts';

const FOR_MS = isFull ? 900_000 : 30_000;

describe.skipIf(!inject('hasRedisBinary'))('whatever happens in whatever order', () => {
  const worlds: World[] = [];
  beforeAll(async () => {
    for (const apis of [1, 2, 1, 2]) worlds.push(await startWorld(apis));
  });
  afterAll(async () => {
    for (const world of worlds) await world[Symbol.asyncDispose]();
  });

  it('no rule is sent twice, nobody waits in vain, every answer is its own, and nothing is left', () =>
    tryCases('scenarios', scenario, tryScenario, { served: true, runs: 9999, lanes: worlds.length, forMs: FOR_MS }));

  it('at last the shared directory is as it was, and no process has crashed', async () => {
    for (const { processes } of worlds) {
      await sweepLater(processes.sharedDir);
      expect(await processes.leftovers()).toEqual([]);
      expect(await privateLeftovers(processes.sharedDir)).toEqual([]);
      expect(processes.noise()).toEqual([]);
    }
  });

  async function tryScenario(played: Scenario, lane: number): Promise<void> {
    const world = worlds[lane];
    if (!world) throw new Error('there is no such world');
    const { processes } = world;
    try {
      const calls = await playScenario(world, played);
      expect(brokenPromises(played, calls, world.secrets)).toEqual([]);
      if (!isCalm(played)) await sweepFiles(processes.sharedDir);
      await eventually(async () => expect(await processes.leftovers()).toEqual([]));
      expect(processes.noise()).toEqual([]);
    } finally {
      await sweepFiles(processes.sharedDir); // what this scenario left is not the next one's
    }
  }
});

/** As the sweep does ten minutes later; the claims stay, because these workers go on. */
async function sweepFiles(sharedDir: string): Promise<void> {
  const sweep = createSweep({
    sharedDirectory: createSharedDirectory({ sharedDir, store: memoryStore() }),
    claims: { ...createClaims(sharedDir, createFileClock(sharedDir)), sweep: async () => 0 },
    laterMs: 2 * CLAIM_KEPT_MS,
    log: pino({ level: 'silent' }),
  });
  await sweep();
}
