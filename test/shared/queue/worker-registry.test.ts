import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import {
  createMemoryWorkerRegistry,
  createRedisWorkerRegistry,
  type WorkerRegistry,
  type WorkerReport,
} from '../../../src/shared/queue/worker-registry.ts';
import { fault } from '../../../src/shared/reasons/causes.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';

const PREFIX = '{rule-server}';
/** A worker counts for 5 s after it told so. */
const FORGOTTEN_WITHIN = { timeout: 15_000, interval: 100 };
const TAKES: WorkerReport = { name: 'a process', takesJobs: true, fault: null, busy: 1, begun: 2 };
const IDLE: WorkerReport = {
  name: 'a process',
  takesJobs: false,
  fault: fault('dir-link', { place: 'mock "1" 12 ' }),
  busy: 0,
  begun: 3_000_000_000,
};

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
    await worker.report('one', TAKES);
    expect(await api.read()).toEqual(new Map([['one', TAKES]]));
  });

  it('are forgotten when they report nothing any more; those that go on are not', async () => {
    const [workers, silent] = [open(), createRedisWorkerRegistry(redis, '{silent}')];
    await silent.report('one', TAKES);
    for (const id of ['gone', 'stays']) await workers.report(id, TAKES);
    const ids = async () => {
      await workers.report('stays', TAKES);
      return [...(await workers.read()).keys()].toSorted();
    };
    expect(await ids()).toEqual(['gone', 'stays']);
    await expect.poll(ids, FORGOTTEN_WITHIN).toEqual(['stays']);
    // Where none goes on, nothing is left.
    await expect.poll(() => redis.keys('{silent}*'), FORGOTTEN_WITHIN).toEqual([]);
  });
});

function keepsItsPromises(open: () => WorkerRegistry): void {
  it('are listed with what each reported last, whether they take jobs or not', async () => {
    const workers = open();
    expect(await workers.read()).toEqual(new Map());
    await workers.report('one', IDLE);
    await workers.report('other', IDLE);
    await workers.report('one', TAKES);
    expect(await workers.read()).toEqual(
      new Map([
        ['one', TAKES],
        ['other', IDLE],
      ]),
    );
  });

  it('are gone once they withdraw', async () => {
    const workers = open();
    await workers.report('one', TAKES);
    await workers.withdraw('one');
    await workers.withdraw('nobody');
    expect(await workers.read()).toEqual(new Map());
  });
}
