import { expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { canMountNetwork, mountNetwork } from '../support/mounts.ts';
import { createResponder } from '../support/responder.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import { startApiProcess, startWorkerProcess } from '../support/start-process.ts';

/** Far longer than a take-over takes: an answer that comes was not left to its deadline. */
const settings = { RESULT_TIMEOUT_MS: 120_000, CLIENT_TIMEOUT_MS: 60_000 };
const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };

it.skipIf(!canMountNetwork || inject('sharedRedis') === null).each([
  ['goes on', false],
  ['is asked to stop', true],
])(
  'the shared directory hangs under a worker that %s: another worker takes its execution over (needs root and sshfs)',
  async (_, stops) => {
    const database = await borrowDatabase();
    try {
      await using network = await mountNetwork();
      const common = { queueUrl: database?.url ?? '', settings };
      await using api = await startApiProcess(common);
      await using hanging = await startWorkerProcess({ ...common, sharedDir: network.path });
      // First of all at the end: a process that waits for a file system cannot be killed.
      await using _ends = { [Symbol.asyncDispose]: () => network.cutOff().catch(() => {}) };
      const answerNow = Promise.withResolvers<void>();
      const does = echoes({ once: answerNow.promise });
      await using client = await createResponder({ sharedDir: network.behind, app: 1, does });
      using _answered = { [Symbol.dispose]: () => answerNow.resolve() }; // so that the client can stop
      const call = api.execute(CALL);
      await client.firstRequest();
      await using _healthy = await startWorkerProcess({ ...common, sharedDir: network.behind });
      await network.hang();
      const stopped = stops ? hanging.terminate().catch(() => {}) : undefined;
      answerNow.resolve();
      const { status, json } = await call;
      expect([status, json.error, json['the service']]).toEqual([200, null, CALL['the service']]);
      expect(client.found).toHaveLength(1);
      await network.cutOff();
      await stopped;
    } finally {
      await database?.stop();
    }
  },
);
