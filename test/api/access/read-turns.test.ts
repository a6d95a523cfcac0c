import { expect, it, vi } from 'vitest';
import { createReadTurns } from '../../../src/api/access/limits.ts';

it('reads of one key run two at a time, and one that waits for somebody else keeps no turn', async () => {
  const begin = createReadTurns();
  const begun: number[] = [];
  for (const number of [0, 1, 2, 3, 4, 5]) void begin().then(() => begun.push(number));
  await Promise.resolve();
  expect(begun).toEqual([0, 1]);
  // Nothing ends, and all come to their turn.
  await vi.waitFor(() => expect(begun).toEqual([0, 1, 2, 3, 4, 5]), 60_000);
});
