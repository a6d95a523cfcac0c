import { expect, test } from 'vitest';
import { checkAll, checkReached } from './smallest.ts';

// `npm run oracle smallest 1000` tries more of them.
test('the smallest change of random runs is what the engine does, and nothing smaller does', async () => {
  const counts = await checkAll(Array.from({ length: 40 }, (_, seed) => seed));
  expect(counts.minimal).toBeGreaterThan(10);
});

test('a node that did not run is reached with the input that is said', async () => {
  const said = await Promise.all(Array.from({ length: 60 }, (_, seed) => checkReached(seed)));
  expect(said.filter(Boolean).length).toBeGreaterThan(10);
});
