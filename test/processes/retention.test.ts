import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';

/** The longer one of HISTORY_SECONDS and of what finished jobs are kept for, and 30 s beyond it. */
const GONE_AFTER_MS = (Math.max(60, 180) + 30) * 1000;

vi.setConfig({ testTimeout: GONE_AFTER_MS + 180_000 });

describe.skipIf(!inject('hasRedisBinary')).concurrent('with HISTORY_SECONDS=60', () => {
  it('no input and no answer is in Redis 210 s after the last call, although nothing happens any more', async () => {
    const redis = await startRedisProcess();
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, settings: { HISTORY_SECONDS: 60 } });
      const { api, sharedDir } = processes;
      await using _client = await createResponder({ sharedDir, app: 1, does: echoes() });
      const marker = randomUUID();
      const url = `${api.url}/rule-server/mock/execute`;
      for (const padding of ['', 'x'.repeat(2000), 'x'.repeat(100_000)]) {
        const body = { app: 1, ruleId: 1, 'the service': { marker, padding } };
        expect((await api.execute(body)).status).toBe(200);
        expect((await api.execute({ ...body, target: 'lane:nobody' })).status).toBe(503);
        const headers = { 'content-type': 'application/json', prefer: 'respond-async' };
        expect((await httpCall(url, { method: 'POST', headers, body: JSON.stringify(body) })).status).toBe(202);
      }
      const endedAt = Date.now();
      expect(await keysWith(redis.url, marker)).not.toEqual([]);
      await delay(endedAt + GONE_AFTER_MS - Date.now());
      expect(await keysWith(redis.url, marker)).toEqual([]);
    } finally {
      await redis.stop();
    }
  });
});

/** All keys that have a text in their name or anywhere in their value, whatever kind of value it is. */
async function keysWith(url: string, text: string): Promise<string[]> {
  const redis = new Redis(url);
  try {
    const found: string[] = [];
    for (const key of await redis.keys('*')) {
      const value = JSON.stringify([key, await contentOf(redis, key)]);
      if (value.includes(text)) found.push(key);
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

async function contentOf(redis: Redis, key: string): Promise<unknown> {
  switch (await redis.type(key)) {
    case 'string':
      return redis.get(key);
    case 'hash':
      return redis.hgetall(key);
    case 'list':
      return redis.lrange(key, 0, -1);
    case 'set':
      return redis.smembers(key);
    case 'zset':
      return redis.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return redis.xrange(key, '-', '+');
    default:
      return null;
  }
}
