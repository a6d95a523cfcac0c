import { expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { answers, createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';
import { twice } from '../support/steady-calls.ts';

vi.setConfig({ testTimeout: 120_000 });

const BATCHES = '/rule-server/mock/batches';
const CASES = 3;
const KILLS = 3;

it.skipIf(!inject('hasRedisBinary'))(
  'an API is killed between the key of a batch and the batch: a repeat under that key can be read, and runs once',
  async () => {
    const redis = await startRedisProcess();
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings: { CLIENT_TIMEOUT_MS: 60_000 } });
      const { sharedDir, workers, api } = processes;
      await using client = await createResponder({ sharedDir, app: 1, does: answers() });
      const keys = Array.from({ length: KILLS }, (_, kill) => `key-${kill}`);
      for (const key of keys) {
        const dying = await processes.addApi();
        workers[0]?.freeze(); // it is asked which clients `client:*` stands for, and the API waits with the batch for the answer
        const known = await questionsIn(redis.url);
        const first = post(dying.url, key).catch(() => null);
        await vi.waitUntil(async () => (await questionsIn(redis.url)) > known, { timeout: 10_000, interval: 5 });
        await dying.kill();
        expect(await first).toBe(null);
        workers[0]?.wake();
      }
      const seen = [];
      for (const key of keys) {
        const { status, json } = await post(api.url, key);
        const read = await httpCall(`${api.url}${BATCHES}/${json.batchId}`);
        const again = await post(api.url, key);
        seen.push([status, read.status, again.json.batchId === json.batchId]);
      }
      expect(seen).toEqual(keys.map(() => [202, 200, true]));
      await eventually(async () => {
        const { items } = (await httpCall(api.url + BATCHES)).json;
        const counts = { passed: CASES, pending: 0 };
        expect(items).toMatchObject(keys.map(() => ({ state: 'finished', counts })));
      });
      expect([client.found.length, twice(client.found)]).toEqual([KILLS * CASES, []]);
    } finally {
      await redis.stop();
    }
  },
);

function post(url: string, key: string): Promise<Answer> {
  const cases = Array.from({ length: CASES }, (_, n) => ({ 'the service': { n } }));
  return httpCall(url + BATCHES, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': key },
    body: JSON.stringify({ app: 1, ruleId: 1, targets: ['client:*'], cases }),
  });
}

/** How many questions no worker has taken. */
async function questionsIn(url: string): Promise<number> {
  return Number(await redisCommand(url, 'LLEN', '{rule-server}:queries:wait'));
}
