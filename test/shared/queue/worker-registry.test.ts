import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import {
  createMemoryWorkerRegistry,
  createRedisWorkerRegistry,
  type WorkerRegistry,
} from '../../../src/shared/queue/worker-registry.ts';
import { causeOf, fault } from '../../../src/shared/reasons/causes.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';

const PREFIX = '{rule-server}';
/** A worker counts for 5 s after it told so. */
const FORGOTTEN_WITHIN = { timeout: 15_000, interval: 100 };

describe('the workers of this process', () => {
  keepsItsPromises(createMemoryWorkerRegistry);
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('the workers of a Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  const open = () => createRedisWorkerRegistry(redis, PREFIX);
  keepsItsPromises(open);

  it('are known to every process', async () => {
    const [worker, api] = [open(), open()];
    await worker.announce('one');
    await worker.reportLoad('one', { busy: 1, begun: 2 });
    expect(await api.loads()).toEqual(new Map([['one', { busy: 1, begun: 2 }]]));
  });

  it('are forgotten with their load when they announce nothing any more; those that go on are not', async () => {
    const [workers, silent] = [open(), createRedisWorkerRegistry(redis, '{silent}')];
    await silent.announce('one');
    await silent.reportLoad('one', { busy: 1, begun: 2 });
    for (const id of ['gone', 'stays']) {
      await workers.announce(id);
      await workers.reportLoad(id, { busy: 1, begun: 2 });
    }
    const ids = async () => {
      await workers.announce('stays');
      await workers.reportLoad('stays', { busy: 3, begun: 4 });
      return [...(await workers.loads()).keys()];
    };
    expect((await ids()).toSorted()).toEqual(['gone', 'stays']);
    await expect.poll(ids, FORGOTTEN_WITHIN).toEqual(['stays']);
    expect(await workers.list()).toEqual(['stays']);
    // The load alone makes no worker of it again.
    await workers.reportLoad('gone', { busy: 1, begun: 2 });
    expect(await ids()).toEqual(['stays']);
    // Where none goes on, nothing is left.
    await expect.poll(() => redis.keys('{silent}*'), FORGOTTEN_WITHIN).toEqual([]);
  });
});

function keepsItsPromises(open: () => WorkerRegistry): void {
  it('are listed with the load that each told last', async () => {
    const workers = open();
    expect(await workers.loads()).toEqual(new Map());
    for (const id of ['one', 'other']) await workers.announce(id);
    await workers.reportLoad('one', { busy: 1, begun: 2 });
    await workers.reportLoad('other', { busy: 10, begun: 20 });
    await workers.reportLoad('one', { busy: 0, begun: 3_000_000_000 });
    expect(await workers.loads()).toEqual(
      new Map([
        ['one', { busy: 0, begun: 3_000_000_000 }],
        ['other', { busy: 10, begun: 20 }],
      ]),
    );
    expect((await workers.list()).toSorted()).toEqual(['one', 'other']);
  });

  it('announce what is the matter with them, whether they take jobs or not, until it is over', async () => {
    const workers = open();
    const problems = async () => (await workers.problems()).map(({ fault }) => causeOf(fault)).toSorted();
    expect(await problems()).toEqual([]);
    await workers.announce('one', fault('dir-full', {}));
    await workers.withdraw('other', fault('dir-link', { place: 'mock' }));
    expect(await problems()).toEqual([
      expect.stringContaining('SHARED_DIR is full'),
      expect.stringContaining('SHARED_DIR/mock is a link'),
    ]);
    expect(await workers.list()).toEqual(['one']);
    const toldAgain = async () => {
      await workers.announce('one');
      return problems();
    };
    await workers.withdraw('other');
    await expect.poll(toldAgain, FORGOTTEN_WITHIN).toEqual([]);
  });

  it('have no load before they told one', async () => {
    const workers = open();
    await workers.announce('one');
    expect(await workers.list()).toEqual(['one']);
    expect(await workers.loads()).toEqual(new Map());
  });

  it('count with their load only while they take jobs', async () => {
    const workers = open();
    await workers.reportLoad('one', { busy: 1, begun: 2 });
    expect(await workers.loads()).toEqual(new Map());
    await workers.announce('one');
    expect(await workers.loads()).toEqual(new Map([['one', { busy: 1, begun: 2 }]]));
    await workers.withdraw('one');
    await workers.reportLoad('one', { busy: 1, begun: 2 });
    expect(await workers.loads()).toEqual(new Map());
    expect(await workers.list()).toEqual([]);
  });
}
