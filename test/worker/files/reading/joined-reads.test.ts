import { expect, test } from 'vitest';
import { createJoinedReads } from '../../../../src/worker/files/reading/joined-reads.ts';

function createReads() {
  const begun: PromiseWithResolvers<number>[] = [];
  const read = () => {
    const next = Promise.withResolvers<number>();
    begun.push(next);
    return next.promise;
  };
  return { begun, read, join: createJoinedReads<number>() };
}

test('those who come while a read runs share the next one, which begins when it ended', async () => {
  const { begun, read, join } = createReads();
  const first = join('a', read);
  const others = [join('a', read), join('a', read), join('a', read)];
  expect(begun).toHaveLength(1);
  begun[0]?.resolve(1);
  expect(await first).toBe(1);
  await Promise.resolve();
  expect(begun).toHaveLength(2);
  const last = join('a', read);
  begun[1]?.resolve(2);
  expect(await Promise.all(others)).toEqual([2, 2, 2]);
  await Promise.resolve();
  expect(begun).toHaveLength(3);
  begun[2]?.resolve(3);
  expect(await last).toBe(3);
});

test('a read that failed fails for those who shared it and nobody else', async () => {
  const { begun, read, join } = createReads();
  const first = join('a', read);
  const second = join('a', read);
  begun[0]?.reject(new Error('first'));
  await expect(first).rejects.toThrow('first');
  await Promise.resolve();
  begun[1]?.resolve(2);
  expect(await second).toBe(2);
});

test('what was read is not kept, and keys do not wait for each other', async () => {
  const { begun, read, join } = createReads();
  const a = join('a', read);
  const b = join('b', read);
  expect(begun).toHaveLength(2);
  begun[0]?.resolve(1);
  begun[1]?.resolve(2);
  expect(await Promise.all([a, b])).toEqual([1, 2]);
  const again = join('a', read);
  expect(begun).toHaveLength(3);
  begun[2]?.resolve(3);
  expect(await again).toBe(3);
});
