import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { BATCH_VERSION, type Batch, itemHeadSchema } from '../../../src/shared/cases/batch.ts';
import { type Case, caseSchema } from '../../../src/shared/cases/case.ts';
import type { BatchLimits, BatchStore } from '../../../src/shared/store/batches/batch-store.ts';
import { createRedisBatches } from '../../../src/shared/store/batches/redis-batches.ts';
import { createEmbeddedBatches } from '../../../src/shared/store/embedded/stores/batches.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryTables } from '../../support/memory-stores.ts';

const AMPLE = { seconds: 60, bytes: 10_000_000, running: 20 };
const passed = itemHeadSchema.parse({ verdict: 'passed', error: 'of a client', differences: 1 });
const detail = { differences: [], notChecked: [], data: '{"a":9007199254740993}', cut: false, nodes: null };

describe('batches in memory', () => {
  const open = (limits: BatchLimits) => createEmbeddedBatches(limits, memoryTables()('batches'));
  keepTheirPromises(open);
  keepTheirRoom(open);
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('batches in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  const open = (limits: BatchLimits) => createRedisBatches(redis, '{rule-server}', limits);
  keepTheirPromises(open);
  keepTheirRoom(open);
});

function keepTheirPromises(open: (limits: BatchLimits) => BatchStore): void {
  it('are read as they were given, case by case, newest first', async () => {
    const store = open(AMPLE);
    const one = await created(store, casesOf(250));
    await new Promise((resolve) => setTimeout(resolve, 2)); // so that it is known which one is newer
    const other = await created(store, casesOf(1));
    expect(await store.list()).toEqual([other.batchId, one.batchId]);
    expect((await store.cases(one.batchId, 2)).map(({ name }) => name)).toEqual(
      casesOf(250)
        .slice(200)
        .map(({ name }) => name),
    );
    expect((await store.cases(other.batchId, 0))[0]?.input).toBe('{"n":9007199254740993}');
    expect(await store.read(one.batchId)).toMatchObject({ batch: one, progress: { state: 'running', endedAt: null } });
    expect(await store.read('nobody')).toBeNull();
    expect(await store.cases(other.batchId, 1)).toEqual([]);
  });

  it('leave out an item only while nobody may have sent it', async () => {
    const store = open(AMPLE);
    const { batchId } = await created(store, casesOf(2), { targets: ['all'] });
    const skipped = { ...passed, verdict: 'skipped' } as const;
    const leaveOut = (n: number) =>
      store.settle(batchId, { n, targetIndex: 0, head: skipped, detail: null, unlessBegun: true });
    await store.begin(batchId, 1, 1000);
    expect([await leaveOut(1), await leaveOut(2)]).toEqual([false, true]);
    expect(await store.begin(batchId, 2, 1000)).toBeNull();
    expect((await store.heads(batchId, 1, 2)).map(({ verdict }) => verdict)).toEqual(['pending', 'skipped']);
    expect(await store.settle(batchId, { n: 1, targetIndex: 0, head: passed, detail })).toBe(true);
  });

  it('keep how each item ended once, count it for its target, and keep until when it may begin', async () => {
    const store = open(AMPLE);
    const { batchId } = await created(store, casesOf(2), { targets: ['all', 'lane:beta'] });
    expect(await store.begin(batchId, 2, 1000)).toBe(1000);
    expect(await store.begin(batchId, 2, 2000)).toBe(1000);
    expect(await store.settle(batchId, { n: 1, targetIndex: 0, head: passed, detail })).toBe(true);
    expect(await store.begin(batchId, 1, 1000)).toBeNull();
    const failed = { ...passed, verdict: 'failed' } as const;
    expect(await store.settle(batchId, { n: 1, targetIndex: 0, head: failed, detail: null })).toBe(false);
    expect(await store.settle(batchId, { n: 4, targetIndex: 1, head: failed, detail: null })).toBe(true);
    const heads = await store.heads(batchId, 1, 4);
    expect(heads.map(({ verdict, claimBy }) => [verdict, claimBy])).toEqual([
      ['passed', null],
      ['pending', 1000],
      ['pending', null],
      ['failed', null],
    ]);
    expect(await store.heads(batchId, 3, 2)).toEqual([]);
    expect(await store.detail(batchId, 1)).toEqual(detail);
    expect(await store.detail(batchId, 4)).toBeNull();
    expect(await store.read(batchId)).toMatchObject({
      progress: {
        counts: [
          { passed: 1, failed: 0, pending: 1 },
          { passed: 0, failed: 1, pending: 1 },
        ],
      },
    });
  });

  it('forget the data of an erased item, and nothing else', async () => {
    const store = open(AMPLE);
    const { batchId } = await created(store, casesOf(2));
    for (const n of [1, 2]) await store.settle(batchId, { n, targetIndex: 0, head: passed, detail });
    const [first] = casesOf(1);
    await store.erase(batchId, { n: 2, chunk: 0, cases: first ? [first] : [] });
    expect(await store.cases(batchId, 0)).toHaveLength(1);
    expect([await store.detail(batchId, 1), await store.detail(batchId, 2)]).toEqual([detail, null]);
    const [kept, erased] = await store.heads(batchId, 1, 2);
    expect(kept).toEqual(passed);
    expect(erased).toEqual({ ...passed, error: null, differences: 0 });
  });

  it('change their state only from one that was named, and run until they are over', async () => {
    const store = open(AMPLE);
    const { batchId } = await created(store, casesOf(1));
    expect(await store.running()).toEqual([batchId]);
    expect(await store.change(batchId, ['running'], 'cancelling')).toBe(true);
    expect(await store.change(batchId, ['running'], 'finished')).toBe(false);
    expect(await store.running()).toEqual([batchId]);
    expect(await store.change(batchId, ['running', 'cancelling'], 'cancelled')).toBe(true);
    expect(await store.running()).toEqual([]);
    expect(await store.read(batchId)).toMatchObject({ progress: { state: 'cancelled', endedAt: expect.any(Number) } });
  });

  it('keep the limit of a client together, and take turns there', async () => {
    const store = open(AMPLE);
    const ask = (batchId: string, mockId: string, limit = 2, client = 'c') =>
      store.acquire({ client, batchId, mockId, limit });
    expect([await ask('a', '1'), await ask('a', '2'), await ask('a', '3'), await ask('b', '4')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
    expect(await ask('a', '5', 2, 'another')).toBe(true);
    await store.release({ client: 'c', batchId: 'a', mockId: '1' });
    // Both want the place; a was served last, so it is the turn of b.
    expect([await ask('a', '3'), await ask('b', '4')]).toEqual([false, true]);
    await store.release({ client: 'c', batchId: 'b', mockId: '4' });
    // b has stopped to ask, and keeps nobody from going on.
    await expect.poll(() => ask('a', '3'), { timeout: 60_000 }).toBe(true);
  });

  it('have a slot for one whose limit is larger, while another batch has reached its own', async () => {
    const store = open(AMPLE);
    const ask = (batchId: string, mockId: string, limit: number) =>
      store.acquire({ client: 'c', batchId, mockId, limit });
    expect([await ask('a', '1', 5), await ask('b', '2', 1), await ask('a', '3', 5)]).toEqual([true, false, true]);
  });
}

function keepTheirRoom(open: (limits: BatchLimits) => BatchStore): void {
  it('are refused beyond those that may run, and beyond the room that finished ones leave', async () => {
    const store = open({ ...AMPLE, running: 2, bytes: 4000 });
    const large = [{ ...casesOf(1)[0], input: `"${'x'.repeat(1500)}"` }].map((each) => caseSchema.parse(each));
    const first = await created(store, large);
    await created(store, large);
    expect(await store.create(batchOf(casesOf(1)), casesOf(1))).toBe('too-many');
    await store.change(first.batchId, ['running'], 'finished');
    await created(store, large);
    expect(await store.read(first.batchId)).toBe('gone');
    expect(await store.bytes()).toBeLessThanOrEqual(4000);
    const [last] = await store.list();
    await store.change(last ?? '', ['running'], 'finished');
    const tooLarge = large.flatMap((each) => [each, each]);
    expect(await store.create(batchOf(tooLarge), tooLarge)).toBe('no-room');
  });

  it('leave a detail out for which there is no room', async () => {
    const store = open({ ...AMPLE, bytes: 1000 });
    const { batchId } = await created(store, casesOf(1));
    const data = 'x'.repeat(1000);
    expect(await store.settle(batchId, { n: 1, targetIndex: 0, head: passed, detail: { ...detail, data } })).toBe(true);
    expect(await store.detail(batchId, 1)).toBeNull();
    expect(await store.heads(batchId, 1, 1)).toEqual([passed]);
  });
}

async function created(store: BatchStore, cases: Case[], more: Partial<Batch> = {}): Promise<Batch> {
  const batch = batchOf(cases, more);
  expect(await store.create(batch, cases)).toBe('created');
  return batch;
}

function batchOf(cases: Case[], more: Partial<Batch> = {}): Batch {
  return {
    ...{ v: BATCH_VERSION, batchId: randomUUID(), app: 1, ruleId: '9007199254740993', confId: null, targets: ['all'] },
    ...{
      cases: cases.length,
      concurrency: 4,
      stopAfterFailures: null,
      keyName: null,
      createdAt: Date.now(),
      file: null,
      dryRun: false,
      ignore: [],
    },
    ...{ etag: null, from: null, ...more },
  };
}

function casesOf(count: number): Case[] {
  return Array.from({ length: count }, (_, n) =>
    caseSchema.parse({
      name: `case ${n}`,
      input: '{"n":9007199254740993}',
      ts: null,
      line: null,
      skip: false,
      tags: [],
      expect: null,
    }),
  );
}
