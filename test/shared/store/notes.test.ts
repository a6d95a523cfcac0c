import type { Redis } from 'ioredis';
import { describe, expect, inject, it } from 'vitest';
import { createEmbeddedNotes } from '../../../src/shared/store/embedded/stores/notes.ts';
import { ANSWER_BYTES, NOTE_BYTES, type Notes } from '../../../src/shared/store/notes/notes.ts';
import { createRedisNotes } from '../../../src/shared/store/notes/redis-notes.ts';
import { withEmptyRedis } from '../../support/empty-redis.ts';
import { memoryTables } from '../../support/memory-stores.ts';
import { openSimulated } from '../../support/queue-stores.ts';

const AMPLE = 10_000_000;
const LATER = () => Date.now() + 60_000;

describe('notes in memory', () => {
  keepTheirPromises((maxBytes) => createEmbeddedNotes(maxBytes, memoryTables()('notes')));
});

describe('notes in the simulated store', () => {
  keepTheirPromises((maxBytes) => openSimulated().openNotes(maxBytes));
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('notes in Redis', () => {
  let redis: Redis;
  withEmptyRedis(choice, (own) => {
    redis = own;
  });
  keepTheirPromises((maxBytes) => createRedisNotes(redis, { prefix: '{rule-server}', maxBytes }));

  it('take no more than NOTE_BYTES each, and answers no more than ANSWER_BYTES beside their text, by the count of Redis itself', async () => {
    const notes = createRedisNotes(redis, { prefix: '{rule-server}', maxBytes: AMPLE });
    const before = await usedBytes(redis);
    const text = JSON.stringify({
      mockId: 'm'.repeat(36),
      digest: 'd'.repeat(64),
      at: Date.now(),
      claimBy: Date.now(),
    });
    for (let count = 0; count < 3000; count++) {
      const key = `idempotency:${String(count).padStart(64, '0')}`;
      await notes.put(key, text, LATER());
    }
    const afterNotes = await usedBytes(redis);
    for (let count = 0; count < 3000; count++)
      await notes.change(`idempotency:${String(count).padStart(64, '0')}`, text, text, { answer: 'x' });
    const afterAnswers = await usedBytes(redis);
    expect((afterNotes - before) / 3000).toBeLessThan(NOTE_BYTES);
    expect((afterAnswers - afterNotes) / 3000).toBeLessThan(ANSWER_BYTES);
  });

  it('leave no answer behind when they are removed', async () => {
    const notes = createRedisNotes(redis, { prefix: '{rule-server}', maxBytes: AMPLE });
    await notes.put('k', 'note', LATER());
    await notes.change('k', 'note', 'ended', { answer: 'an answer' });
    await notes.change('k', 'ended', null);
    expect(await redis.keys('*')).toEqual(['{rule-server}:notes:bytes']);
  });
});

function keepTheirPromises(open: (maxBytes: number) => Notes): void {
  it('the first one under a key is the one', async () => {
    const notes = open(AMPLE);
    expect(await notes.put('k', 'first', LATER())).toEqual({ kind: 'put' });
    expect(await notes.put('k', 'second', LATER())).toEqual({ kind: 'there', text: 'first' });
    expect(await notes.get('k')).toBe('first');
  });

  it('of an execution that is erased go with their answers, and no others', async () => {
    const notes = open(AMPLE);
    const noteOf = (mockId: string, answer = false) => JSON.stringify({ mockId, answer });
    for (const mockId of ['erased', 'stays']) {
      await notes.put(`key of ${mockId}`, noteOf(mockId), LATER());
      await notes.change(`key of ${mockId}`, noteOf(mockId), noteOf(mockId, true), { answer: mockId });
    }
    await notes.erase('erased');
    expect([await notes.get('key of erased'), await notes.answer('key of erased')]).toEqual([null, null]);
    expect([await notes.get('key of stays'), await notes.answer('key of stays')]).toEqual([
      noteOf('stays', true),
      'stays',
    ]);
  });

  it('change only when they are what they were thought to be', async () => {
    const notes = open(AMPLE);
    await notes.put('k', 'first', LATER());
    expect(await notes.change('k', 'another', 'second')).toBe(false);
    expect(await notes.change('k', 'first', 'second')).toBe(true);
    expect(await notes.get('k')).toBe('second');
    expect(await notes.change('k', 'second', null)).toBe(true);
    expect(await notes.get('k')).toBeNull();
    expect(await notes.change('k', 'second', 'third')).toBe(false);
  });

  it('are due once their time has come, again a while later, and no more once they are closed', async () => {
    const notes = open(AMPLE);
    await notes.put('later', 'a', LATER());
    await notes.put('now', 'b', Date.now() - 1);
    expect(await notes.due(10, 60_000)).toEqual(['now']);
    expect(await notes.due(10, 60_000)).toEqual([]);
    await notes.change('now', 'b', 'c', { dueAt: Date.now() - 1 });
    expect(await notes.due(10, 0)).toEqual(['now']);
    await notes.change('now', 'c', 'd');
    expect(await notes.due(10, 0)).toEqual([]);
  });

  it('keep answers as long as there is room: the oldest leave first, and the notes stay', async () => {
    const notes = open(3 * NOTE_BYTES + 2 * ANSWER_BYTES + 2500);
    for (const key of ['a', 'b', 'c']) {
      await notes.put(key, key, LATER());
      await notes.change(key, key, `${key}!`, { answer: key.repeat(1000) });
    }
    expect(await notes.answer('a')).toBeNull();
    expect(await notes.answer('b')).toBe('b'.repeat(1000));
    expect(await notes.answer('c')).toBe('c'.repeat(1000));
    expect(await notes.get('a')).toBe('a!');
  });

  it('an answer that has no room at all is not kept, and lets no other one leave', async () => {
    const notes = open(2 * NOTE_BYTES + 2 * ANSWER_BYTES + 2000);
    await notes.put('a', 'a', LATER());
    await notes.change('a', 'a', 'a!', { answer: 'small' });
    await notes.put('b', 'b', LATER());
    await notes.change('b', 'b', 'b!', { answer: 'x'.repeat(3000) });
    expect([await notes.answer('a'), await notes.answer('b')]).toEqual(['small', null]);
    expect(await notes.get('b')).toBe('b!');
  });

  it('make room for a note by letting answers leave; where there are only notes, the next one finds none', async () => {
    const notes = open(2 * NOTE_BYTES + 100);
    await notes.put('a', 'a', LATER());
    await notes.change('a', 'a', 'a!', { answer: 'small' });
    expect(await notes.answer('a')).toBe('small');
    expect(await notes.put('b', 'b', LATER())).toEqual({ kind: 'put' });
    expect(await notes.answer('a')).toBeNull();
    expect(await notes.put('c', 'c', LATER())).toEqual({ kind: 'full' });
    expect(await notes.put('a', 'again', LATER())).toEqual({ kind: 'there', text: 'a!' });
  });
}

async function usedBytes(redis: Redis): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(await redis.info('memory'))?.[1]);
}
