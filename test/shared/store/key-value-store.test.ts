import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { createEmbeddedStore, createRedisStore, type Store } from '../../../src/shared/store/key-value-store.ts';
import { memoryStore, memoryTables } from '../../support/memory-stores.ts';
import { createOwnTimers } from '../../support/own-time.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';

describe('the store in memory', () => {
  keepsItsPromises(async () => memoryStore());

  it('forgets the oldest values once they are too many bytes together', async () => {
    const store = memoryStore(100);
    for (const key of ['a', 'b', 'c']) await store.setIfAbsent(key, key.repeat(40), 60);
    expect([await store.get('a'), (await store.get('b'))?.length, (await store.get('c'))?.length]).toEqual([
      null,
      40,
      40,
    ]);
  });

  it('keeps a value that is too large for everything else', async () => {
    const store = memoryStore(100);
    await store.setIfAbsent('small', 'x', 60);
    await store.setIfAbsent('large', 'x'.repeat(200), 60);
    expect([await store.get('small'), (await store.get('large'))?.length]).toEqual([null, 200]);
  });

  it('what has expired leaves it at the next that comes, also from behind one that stays for years', async () => {
    const { run, standStill: pass } = createOwnTimers();
    const { store, keys } = run(countedStore);
    await run(() => store.setIfAbsent('for years', 'x', 10 * 365 * 86_400));
    await run(() => store.setIfAbsent('for a minute', 'y', 60));
    await run(() => store.setIfAbsent('for an hour', 'z', 3600));
    pass(61_000);
    await run(() => store.setIfAbsent('now', 'n', 60));
    expect(await run(keys)).toEqual(['for years', 'for an hour', 'now']);
    expect(await run(() => store.get('for years'))).toBe('x');
  });

  it('what has expired goes before the oldest that has not', async () => {
    const { run, standStill: pass } = createOwnTimers();
    const { store, keys } = run(() => countedStore(100));
    await run(() => store.setIfAbsent('old', 'x'.repeat(40), 3600));
    await run(() => store.setIfAbsent('expired', 'y'.repeat(40), 1));
    pass(1001);
    await run(() => store.setIfAbsent('new', 'z'.repeat(40), 60));
    expect(await run(keys)).toEqual(['old', 'new']);
  });

  it('what it holds again is not the oldest any more', async () => {
    const store = memoryStore(100);
    for (const key of ['a', 'b']) await store.hold(key, key.repeat(40), 60);
    await store.hold('a', 'a'.repeat(40), 60);
    await store.setIfAbsent('c', 'c'.repeat(40), 60);
    expect([(await store.get('a'))?.length, await store.get('b')]).toEqual([40, null]);
  });
});

/** A store, and the keys that take room in it. */
function countedStore(maxBytes?: number) {
  const table = memoryTables()('store');
  return { store: createEmbeddedStore(table, maxBytes), keys: () => table.load().map(({ key }) => key) };
}

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the store in Redis', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());
  let connection: Redis | undefined;
  afterAll(() => connection?.disconnect());
  keepsItsPromises(async () => {
    connection = new Redis(redis.url);
    return createRedisStore(connection, '{rule-server}');
  });
});

function keepsItsPromises(open: () => Promise<Store>): void {
  let store: Store;
  beforeAll(async () => {
    store = await open();
  });

  it('the first value put under a key stays', async () => {
    const puts = await Promise.all(['one', 'two', 'three'].map((value) => store.setIfAbsent('first', value, 60)));
    expect(new Set(puts).size).toBe(1);
    expect(await store.get('first')).toBe(puts[0]);
    expect(await store.hold('first', 'four', 60)).toBe(puts[0]);
  });

  it('a key that nobody put is null', async () => {
    expect(await store.get('unknown')).toBeNull();
  });

  it('a value comes back to the character, whatever is in it', async () => {
    const value = `{"n":9007199254740993,"s":"\u2028 😀 \\u0000 ${'é'.repeat(100_000)}"}`;
    await store.setIfAbsent('exact', value, 60);
    expect(await store.get('exact')).toBe(value);
  });

  it('a value is forgotten after its time, and then the key is free', async () => {
    await store.setIfAbsent('short', 'one', 1);
    await expect.poll(() => store.get('short'), { timeout: 60_000 }).toBeNull();
    expect(await store.setIfAbsent('short', 'two', 60)).toBe('two');
  });

  it('a value that is held lives on, one that is put again does not', async () => {
    await store.hold('held', 'mine', 1);
    await store.setIfAbsent('put', 'mine', 1);
    await store.hold('held', 'mine', 60);
    await store.setIfAbsent('put', 'mine', 60);
    await expect.poll(() => store.get('put'), { timeout: 60_000 }).toBeNull();
    expect(await store.get('held')).toBe('mine');
  });

  it('a value that was removed is gone, and its key is free', async () => {
    await store.setIfAbsent('removed', 'one', 60);
    await store.remove('removed');
    await store.remove('never there');
    expect(await store.get('removed')).toBeNull();
    expect(await store.setIfAbsent('removed', 'two', 60)).toBe('two');
  });
}
