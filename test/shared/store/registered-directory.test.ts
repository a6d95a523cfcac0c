import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import {
  createMemoryDirectory,
  createRedisDirectory,
  type RegisteredDirectory,
} from '../../../src/shared/store/registered-directory.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';

describe('the shared directory of one process', () => {
  keepsItsPromises(createMemoryDirectory);
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the shared directory of a queue on Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  const open = () => createRedisDirectory(redis, '{rule-server}');
  keepsItsPromises(open);

  it('is known to every process, and not forgotten after a while', async () => {
    await open().register('one');
    expect(await open().get()).toBe('one');
    const keys = await redis.keys('*');
    expect(await Promise.all(keys.map((key) => redis.ttl(key)))).toEqual([-1]);
  });
});

function keepsItsPromises(open: () => RegisteredDirectory): void {
  it('is the first that was registered, until it is forgotten', async () => {
    const directory = open();
    expect(await directory.get()).toBeNull();
    expect(await directory.register('one')).toBe('one');
    expect(await directory.register('other')).toBe('one');
    await directory.forget();
    expect(await directory.register('other')).toBe('other');
    expect(await directory.get()).toBe('other');
  });
}
