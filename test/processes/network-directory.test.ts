import { readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { startRedis } from '../support/redis.ts';
import { createResponder } from '../support/responder.ts';
import { startApiProcess, startWorkerProcess } from '../support/start-process.ts';
import { type Service, startService } from '../support/start-service.ts';
import { callSteadily, strangers, twice } from '../support/steady-calls.ts';

vi.setConfig({ testTimeout: 150_000 });

const AWAY_MS = 10_000;
const choice = inject('redis');

const mounts: [string, string[], number][] = [
  ['as it is mounted by default', [], 2000],
  ['with dir_cache=no', ['dir_cache=no'], 500],
];

describe.skipIf(!canMountNetwork)('a shared directory over sshfs (needs root and sshfs)', () => {
  describe.each(mounts)('%s', (_, options, count) => {
    it('a server that goes away for 10 s and comes back: the wait survives it, and gets the answer of meanwhile', async () => {
      await using network = await mountNetwork(options);
      await using service = await startService({
        sharedDir: network.path,
        settings: { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000 },
        logsErrors: true,
        leavesFiles: true,
      });
      await using client = await createResponder({
        sharedDir: network.behind,
        app: 1,
        does: echoes({ afterMs: 3000 }),
      });
      await untilServed(service, 1);
      const before = client.found.length;
      const call = service.execute({ app: 1, ruleId: 1, 'the service': { number: 7 } });
      await eventually(() => expect(client.found.length).toBe(before + 1), 20_000);
      await network.goAway();
      await sleep(AWAY_MS);
      await network.comeBack();
      const { status, json } = await call;
      expect([status, json.error, json['the service']]).toEqual([200, null, { number: 7 }]);
      expect(client.found).toHaveLength(before + 1);
    });

    it('a client that does not pick up, and one that does not answer: each ends at its deadline, by what happened', async () => {
      await using network = await mountNetwork(options);
      const settings = { RESULT_TIMEOUT_MS: 6000, CLIENT_TIMEOUT_MS: 60_000 };
      await using service = await startService({ sharedDir: network.path, settings, leavesFiles: true });
      await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes() });
      await untilServed(service, 1);
      client.does = () => {};
      const unseen = await service.execute({ app: 1, ruleId: 1 });
      expect([unseen.status, unseen.json.code, unseen.json.mayHaveRun]).toEqual([504, 'not-picked-up', false]);
      client.does = (request) => request.pickUp();
      const silent = await service.execute({ app: 1, ruleId: 1 });
      expect([silent.status, silent.json.code, silent.json.mayHaveRun]).toEqual([504, 'no-answer', true]);
      expect((await readdir(client.directory)).filter((name) => name.endsWith('.json'))).toEqual([]);
    });

    it.skipIf(choice.kind === 'unavailable')(
      `${count} calls over two workers of which one is killed: each has its own answer, and none ran twice`,
      async () => {
        await using network = await mountNetwork(options);
        const redis = await startRedis(choice);
        try {
          const settings = { RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 60_000, MAX_WAITS_PER_CLIENT: 500 };
          const common = { queueUrl: redis.url, sharedDir: network.path, settings };
          await using client = await createResponder({ sharedDir: network.behind, app: 1, does: echoes() });
          await using api = await startApiProcess(common);
          await using killed = await startWorkerProcess(common);
          await using _other = await startWorkerProcess(common);
          const startedAt = performance.now();
          const calls = callSteadily({ perSecond: 1000, openAtMost: 50 }, (number) =>
            api.execute({ app: 1, ruleId: 1, 'the service': { number } }),
          );
          await eventually(() => expect(calls.count).toBeGreaterThan(count / 4), 60_000);
          await killed.kill();
          await eventually(() => expect(calls.count).toBeGreaterThanOrEqual(count), 60_000);
          const called = await calls.stop();
          const perSecond = called.length / ((performance.now() - startedAt) / 1000);
          console.log(`over sshfs, ${called.length} calls of 50 callers: ${Math.round(perSecond)}/s`);
          expect(strangers(called)).toEqual([]);
          expect(twice(client.found)).toEqual([]);
        } finally {
          await redis.stop();
        }
      },
    );
  });
});

const INPUT = { uid: 1, cost: 120 };

/** A new client is seen once the mount's own cache of the folder is over. */
async function untilServed(service: Service, app: number): Promise<void> {
  const call = { app, ruleId: 1, 'the service': INPUT };
  await eventually(async () => expect((await service.execute(call)).status).toBe(200), 40_000);
}
