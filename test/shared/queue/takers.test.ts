import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createMemoryTakers, createRedisTakers, type Takers } from '../../../src/shared/queue/takers.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';

const PREFIX = '{rule-server}';
/** A worker counts for 5 s after it told so. */
const FORGOTTEN_WITHIN = { timeout: 15_000, interval: 100 };

describe('the workers of this process', () => {
  keepsItsPromises(createMemoryTakers);
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the workers of a Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  const open = () => createRedisTakers(redis, PREFIX);
  keepsItsPromises(open);

  it('are known to every process', async () => {
    const [worker, api] = [open(), open()];
    await worker.tell('one');
    await worker.tellLoad('one', { busy: 1, begun: 2 });
    expect(await api.loads()).toEqual(new Map([['one', { busy: 1, begun: 2 }]]));
  });

  it('are forgotten with their load when they tell nothing any more; those that go on are not', async () => {
    const [takers, silent] = [open(), createRedisTakers(redis, '{silent}')];
    await silent.tell('one');
    await silent.tellLoad('one', { busy: 1, begun: 2 });
    for (const id of ['gone', 'stays']) {
      await takers.tell(id);
      await takers.tellLoad(id, { busy: 1, begun: 2 });
    }
    const ids = async () => {
      await takers.tell('stays');
      await takers.tellLoad('stays', { busy: 3, begun: 4 });
      return [...(await takers.loads()).keys()];
    };
    expect((await ids()).toSorted()).toEqual(['gone', 'stays']);
    await expect.poll(ids, FORGOTTEN_WITHIN).toEqual(['stays']);
    expect(await takers.list()).toEqual(['stays']);
    // The load alone makes no worker of it again.
    await takers.tellLoad('gone', { busy: 1, begun: 2 });
    expect(await ids()).toEqual(['stays']);
    // Where none goes on, nothing is left.
    await expect.poll(() => redis.keys('{silent}*'), FORGOTTEN_WITHIN).toEqual([]);
  });
});

function keepsItsPromises(open: () => Takers): void {
  it('are listed with the load that each told last', async () => {
    const takers = open();
    expect(await takers.loads()).toEqual(new Map());
    for (const id of ['one', 'other']) await takers.tell(id);
    await takers.tellLoad('one', { busy: 1, begun: 2 });
    await takers.tellLoad('other', { busy: 10, begun: 20 });
    await takers.tellLoad('one', { busy: 0, begun: 3_000_000_000 });
    expect(await takers.loads()).toEqual(
      new Map([
        ['one', { busy: 0, begun: 3_000_000_000 }],
        ['other', { busy: 10, begun: 20 }],
      ]),
    );
    expect((await takers.list()).toSorted()).toEqual(['one', 'other']);
  });

  it('tell what is the matter with them, whether they take jobs or not, until it is over', async () => {
    const takers = open();
    const problems = async () => (await takers.problems()).map(({ problem }) => problem).toSorted();
    expect(await problems()).toEqual([]);
    await takers.tell('one', 'it is full');
    await takers.withdraw('other', 'it is empty');
    expect(await problems()).toEqual(['it is empty', 'it is full']);
    expect(await takers.list()).toEqual(['one']);
    const toldAgain = async () => {
      await takers.tell('one');
      return problems();
    };
    await takers.withdraw('other');
    await expect.poll(toldAgain, FORGOTTEN_WITHIN).toEqual([]);
  });

  it('have no load before they told one', async () => {
    const takers = open();
    await takers.tell('one');
    expect(await takers.list()).toEqual(['one']);
    expect(await takers.loads()).toEqual(new Map());
  });

  it('count with their load only while they take jobs', async () => {
    const takers = open();
    await takers.tellLoad('one', { busy: 1, begun: 2 });
    expect(await takers.loads()).toEqual(new Map());
    await takers.tell('one');
    expect(await takers.loads()).toEqual(new Map([['one', { busy: 1, begun: 2 }]]));
    await takers.withdraw('one');
    await takers.tellLoad('one', { busy: 1, begun: 2 });
    expect(await takers.loads()).toEqual(new Map());
    expect(await takers.list()).toEqual([]);
  });
}
