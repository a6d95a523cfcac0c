import { describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';

vi.setConfig({ testTimeout: 120_000 });

const NOTICED_WITHIN_MS = 30_000;

describe.skipIf(!inject('hasRedisBinary'))('while a deployment runs, its Redis', () => {
  it('is told to forget jobs when it is full: /readyz of the API and of the worker say so, until it is told otherwise', async () => {
    const redis = await startRedisProcess();
    try {
      const workerPort = await freePort();
      await using processes = await startProcesses({ queueUrl: redis.url, settings: { WORKER_PORT: workerPort } });
      await using _ = await createResponder({ sharedDir: processes.sharedDir, app: 1, does: echoes() });
      const urls = [processes.api.url, `http://127.0.0.1:${workerPort}`];
      const told = () => Promise.all(urls.map(async (url) => httpCall(`${url}/readyz`)));
      await vi.waitFor(async () => expect((await told()).map(({ status }) => status)).toEqual([200, 200]), 30_000);

      await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
      await vi.waitFor(async () => {
        for (const { status, text } of await told()) {
          expect(status).toBe(503);
          expect(text).toContain('maxmemory-policy allkeys-lru');
        }
      }, NOTICED_WITHIN_MS);

      await redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await vi.waitFor(
        async () => expect((await told()).map(({ status }) => status)).toEqual([200, 200]),
        NOTICED_WITHIN_MS,
      );
      expect((await processes.api.execute({ app: 1, ruleId: 1 })).status).toBe(200);
    } finally {
      await redis.stop();
    }
  });
});
