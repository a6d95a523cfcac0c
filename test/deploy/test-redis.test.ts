import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import type { RedisServer } from '../support/redis-server.ts';

const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('the Redis of this run', () => {
  it('answers, and starts empty', async () => {
    const redis = connect(await stoppedAtEnd(startRedis(choice)));
    expect(await redis.ping()).toBe('PONG');
    expect(await redis.keys('job:*')).toEqual([]);
  });

  it('may be stopped twice', async () => {
    const server = await startRedis(choice);
    await server.stop();
    await server.stop();
  });
});

// A server that somebody else runs is neither restarted nor frozen.
describe.skipIf(choice.kind === 'unavailable' || choice.kind === 'url')('a Redis of our own', () => {
  it('keeps its url and its data over a restart when it is append-only', async () => {
    const server = await stoppedAtEnd(startRedis(choice, { appendOnly: true }));
    await connect(server).set('job:1', 'kept');
    await server.restart?.();
    expect(await connect(server).get('job:1')).toBe('kept');
  });

  it('is empty after a restart otherwise', async () => {
    const server = await stoppedAtEnd(startRedis(choice));
    await connect(server).set('job:1', 'lost');
    await server.restart?.();
    expect(await connect(server).get('job:1')).toBeNull();
  });

  it('does not answer while it is paused', async () => {
    const server = await stoppedAtEnd(startRedis(choice));
    const redis = connect(server);
    await redis.ping();
    await server.pause?.();
    const answer = redis.ping();
    expect(await Promise.race([answer, delay(200, 'silence')])).toBe('silence');
    await server.resume?.();
    expect(await answer).toBe('PONG');
  });
});

describe.skipIf(!inject('hasRedisBinary'))('a local Redis program', () => {
  it('refuses writes beyond its memory limit', async () => {
    const server = await stoppedAtEnd(startRedisProcess());
    await server.setMaxMemory(1);
    await expect(connect(server).set('job:1', 'x')).rejects.toThrow(/OOM/);
    await server.setMaxMemory(0);
    expect(await connect(server).set('job:1', 'x')).toBe('OK');
  });

  it('can come back without its data although it was append-only', async () => {
    const server = await stoppedAtEnd(startRedisProcess({ appendOnly: true }));
    await connect(server).set('job:1', 'lost');
    await server.kill();
    await server.start({ loseData: true });
    expect(await connect(server).get('job:1')).toBeNull();
  });

  it('is shared by suites through databases of their own, never one that holds somebody else’s data', async () => {
    const server = await stoppedAtEnd(startRedisProcess());
    await connect({ url: `${server.url}/1` }).set('not', 'ours');
    const first = await stoppedAtEnd(claimRedisDatabase(server.url));
    const second = await stoppedAtEnd(claimRedisDatabase(server.url));
    expect([first.url, second.url]).toEqual([`${server.url}/2`, `${server.url}/3`]);

    await connect(first).set('job:1', 'left');
    await first.stop();
    const third = await stoppedAtEnd(claimRedisDatabase(server.url));
    expect(third.url).toBe(first.url);
    expect(await connect(third).get('job:1')).toBeNull();
  });

  it('says why it did not start', async () => {
    await expect(startRedisProcess({ command: 'no-such-redis-server' })).rejects.toThrow(/no-such-redis-server ENOENT/);
  });
});

async function stoppedAtEnd<T extends RedisServer>(starting: Promise<T>): Promise<T> {
  const server = await starting;
  onTestFinished(() => server.stop());
  return server;
}

function connect({ url }: Pick<RedisServer, 'url'>): Redis {
  const redis = new Redis(url);
  // Connections break in these tests; the commands report what matters.
  redis.on('error', () => undefined);
  onTestFinished(() => redis.disconnect());
  return redis;
}
