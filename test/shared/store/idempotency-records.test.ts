import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createEmbeddedIdempotencyRecords } from '../../../src/shared/store/embedded/stores/idempotency-records.ts';
import {
  ANSWER_BYTES,
  type IdempotencyRecords,
  RECORD_BYTES,
} from '../../../src/shared/store/idempotency/idempotency-records.ts';
import { createRedisIdempotencyRecords } from '../../../src/shared/store/idempotency/redis-idempotency-records.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryTables } from '../../support/memory-stores.ts';

const AMPLE = 10_000_000;
const LATER = () => Date.now() + 60_000;

describe('idempotency records in memory', () => {
  keepTheirPromises((maxBytes) => createEmbeddedIdempotencyRecords(maxBytes, memoryTables()('idempotency_records')));
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('records in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  keepTheirPromises((maxBytes) => createRedisIdempotencyRecords(redis, { prefix: '{rule-server}', maxBytes }));

  it('take no more than RECORD_BYTES each, and answers no more than ANSWER_BYTES beside their text, by the count of Redis itself', async () => {
    const records = createRedisIdempotencyRecords(redis, { prefix: '{rule-server}', maxBytes: AMPLE });
    const before = await usedBytes(redis);
    const text = JSON.stringify({
      mockId: 'm'.repeat(36),
      digest: 'd'.repeat(64),
      at: Date.now(),
      claimBy: Date.now(),
    });
    for (let count = 0; count < 3000; count++) {
      const key = `idempotency:${String(count).padStart(64, '0')}`;
      await records.put(key, text, LATER());
    }
    const afterRecords = await usedBytes(redis);
    for (let count = 0; count < 3000; count++)
      await records.change(`idempotency:${String(count).padStart(64, '0')}`, text, text, { answer: 'x' });
    const afterAnswers = await usedBytes(redis);
    expect((afterRecords - before) / 3000).toBeLessThan(RECORD_BYTES);
    expect((afterAnswers - afterRecords) / 3000).toBeLessThan(ANSWER_BYTES);
  });

  it('leave no answer behind when they are removed', async () => {
    const records = createRedisIdempotencyRecords(redis, { prefix: '{rule-server}', maxBytes: AMPLE });
    await records.put('k', 'record', LATER());
    await records.change('k', 'record', 'ended', { answer: 'an answer' });
    await records.change('k', 'ended', null);
    expect(await redis.keys('*')).toEqual(['{rule-server}:idempotency:bytes']);
  });
});

function keepTheirPromises(open: (maxBytes: number) => IdempotencyRecords): void {
  it('the first one under a key is the one', async () => {
    const records = open(AMPLE);
    expect(await records.put('k', 'first', LATER())).toEqual({ kind: 'put' });
    expect(await records.put('k', 'second', LATER())).toEqual({ kind: 'there', text: 'first' });
    expect(await records.get('k')).toBe('first');
  });

  it('of an execution that is erased go with their answers, and no others', async () => {
    const records = open(AMPLE);
    const recordOf = (mockId: string, answer = false) => JSON.stringify({ mockId, answer });
    for (const mockId of ['erased', 'stays']) {
      await records.put(`key of ${mockId}`, recordOf(mockId), LATER());
      await records.change(`key of ${mockId}`, recordOf(mockId), recordOf(mockId, true), { answer: mockId });
    }
    await records.erase('erased');
    expect([await records.get('key of erased'), await records.answer('key of erased')]).toEqual([null, null]);
    expect([await records.get('key of stays'), await records.answer('key of stays')]).toEqual([
      recordOf('stays', true),
      'stays',
    ]);
  });

  it('change only when they are what they were thought to be', async () => {
    const records = open(AMPLE);
    await records.put('k', 'first', LATER());
    expect(await records.change('k', 'another', 'second')).toBe(false);
    expect(await records.change('k', 'first', 'second')).toBe(true);
    expect(await records.get('k')).toBe('second');
    expect(await records.change('k', 'second', null)).toBe(true);
    expect(await records.get('k')).toBeNull();
    expect(await records.change('k', 'second', 'third')).toBe(false);
  });

  it('are due once their time has come, again a while later, and no more once they are closed', async () => {
    const records = open(AMPLE);
    await records.put('later', 'a', LATER());
    await records.put('now', 'b', Date.now() - 1);
    expect(await records.due(10, 60_000)).toEqual(['now']);
    expect(await records.due(10, 60_000)).toEqual([]);
    await records.change('now', 'b', 'c', { dueAt: Date.now() - 1 });
    expect(await records.due(10, 0)).toEqual(['now']);
    await records.change('now', 'c', 'd');
    expect(await records.due(10, 0)).toEqual([]);
  });

  it('keep answers as long as there is room: the oldest leave first, and the records stay', async () => {
    const records = open(3 * RECORD_BYTES + 2 * ANSWER_BYTES + 2500);
    for (const key of ['a', 'b', 'c']) {
      await records.put(key, key, LATER());
      await records.change(key, key, `${key}!`, { answer: key.repeat(1000) });
    }
    expect(await records.answer('a')).toBeNull();
    expect(await records.answer('b')).toBe('b'.repeat(1000));
    expect(await records.answer('c')).toBe('c'.repeat(1000));
    expect(await records.get('a')).toBe('a!');
  });

  it('an answer that has no room at all is not kept, and lets no other one leave', async () => {
    const records = open(2 * RECORD_BYTES + 2 * ANSWER_BYTES + 2000);
    await records.put('a', 'a', LATER());
    await records.change('a', 'a', 'a!', { answer: 'small' });
    await records.put('b', 'b', LATER());
    await records.change('b', 'b', 'b!', { answer: 'x'.repeat(3000) });
    expect([await records.answer('a'), await records.answer('b')]).toEqual(['small', null]);
    expect(await records.get('b')).toBe('b!');
  });

  it('make room for a record by letting answers leave; where there are only records, the next one finds none', async () => {
    const records = open(2 * RECORD_BYTES + 100);
    await records.put('a', 'a', LATER());
    await records.change('a', 'a', 'a!', { answer: 'small' });
    expect(await records.answer('a')).toBe('small');
    expect(await records.put('b', 'b', LATER())).toEqual({ kind: 'put' });
    expect(await records.answer('a')).toBeNull();
    expect(await records.put('c', 'c', LATER())).toEqual({ kind: 'full' });
    expect(await records.put('a', 'again', LATER())).toEqual({ kind: 'there', text: 'a!' });
  });
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}
