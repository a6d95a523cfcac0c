import { expect, test } from 'vitest';
import { runsThatFit } from '../../src/console/cases/inputs.ts';

test('ten thousand inputs of a kilobyte fit into the room that there is by default; of the largest ones they do not', () => {
  const bytes = 128 * 1024 * 1024;
  expect(runsThatFit(bytes, { runs: 10_000, inputCharacters: 10_000 * 1000 })).toBeGreaterThan(10_000);
  expect(runsThatFit(bytes, { runs: 10_000, inputCharacters: 10_000 * 64_000 })).toBeLessThan(1000);
});
