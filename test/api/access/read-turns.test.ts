import { expect, it, vi } from 'vitest';
import { createReadTurns } from '../../../src/api/access/read-turns.ts';

it('reads of one key run two at a time, and one that waits for somebody else keeps no turn', async () => {
  const inTurn = createReadTurns();
  const reads = Array.from({ length: 6 }, () => Promise.withResolvers<void>());
  const begun: number[] = [];
  const all = reads.map(({ promise }, number) =>
    inTurn(() => {
      begun.push(number);
      return promise;
    }),
  );
  expect(begun).toEqual([0, 1]);
  // Nothing ends, and all come to their turn.
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 4, 5]), 60_000);
  for (const { resolve } of reads) resolve();
  await Promise.all(all);
});

it('a read that fails gives its turn back, and its caller is told', async () => {
  const inTurn = createReadTurns();
  const failing = Array.from({ length: 4 }, () => inTurn(() => Promise.reject(new Error('away'))));
  const ended = await Promise.allSettled(failing);
  expect(ended.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected', 'rejected']);
});
