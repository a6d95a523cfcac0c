import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { embeddedStores } from '../../../src/shared/store/embedded/stores/stores.ts';
import { createRedisTrees, type Trees } from '../../../src/shared/store/history/trees.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryTables } from '../../support/memory-stores.ts';

const text = (letter: string) => letter.repeat(1000);

describe('the trees of rules that ran, in one process', () => {
  keepTheirPromises((maxBytes) => embeddedStores(memoryTables()).openTrees(maxBytes));
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the trees of rules that ran, in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  keepTheirPromises((maxBytes) => createRedisTrees(redis, '{rule-server}', maxBytes));

  it('have the room back that one took which has expired', async () => {
    const trees = createRedisTrees(redis, '{rule-server}', 2500);
    await trees.keep('a', text('a'), 60);
    await redis.del('{rule-server}:tree:a'); // as when its time is over
    for (const digest of ['b', 'c']) await trees.keep(digest, text(digest), 60);
    expect([await trees.get('b'), await trees.get('c')]).toEqual([text('b'), text('c')]);
    expect(await redis.get('{rule-server}:trees:bytes')).toBe('2000');
  });
});

function keepTheirPromises(open: (maxBytes: number) => Trees): void {
  it('come back as they were, each under its digest', async () => {
    const trees = open(10_000);
    await trees.keep('a', '{"id":9007199254740993}', 60);
    expect([await trees.get('a'), await trees.get('b')]).toEqual(['{"id":9007199254740993}', null]);
  });

  it('leave when there is no room: the one first that was used the longest ago', async () => {
    const trees = open(3500);
    for (const digest of ['a', 'b', 'c', 'a', 'd']) {
      await trees.keep(digest, text(digest), 60);
      await setTimeout(2); // so that it is known which one is older
    }
    const all = await Promise.all(['a', 'b', 'c', 'd'].map(trees.get));
    expect(all).toEqual([text('a'), null, text('c'), text('d')]);
  });

  it('live on when they are kept again, also where what clients tell of them is another text by now', async () => {
    const trees = open(10_000);
    await Promise.all(['a', 'b', 'c'].map((digest) => trees.keep(digest, text('x'), 1)));
    await trees.keep('a', text('x'), 60);
    await trees.keep('b', text('y'), 60);
    await expect.poll(() => trees.get('c'), { timeout: 60_000 }).toBeNull();
    expect([await trees.get('a'), (await trees.get('b'))?.length]).toEqual([text('x'), 1000]);
  });

  it('leave once their time is over', async () => {
    const trees = open(3500);
    await trees.keep('a', text('a'), 1);
    await expect.poll(() => trees.get('a'), { timeout: 60_000 }).toBeNull();
  });
}
