import { expect, test } from 'vitest';
import { checkSince } from './since.ts';

// `npm run oracle since` tries more of them.
test('what is told of 20 releases of random rules is what each of them comes to', async () => {
  const counts = await Promise.all(Array.from({ length: 15 }, (_, seed) => checkSince(seed)));
  expect(counts.filter((each) => each['the release was told'])).not.toHaveLength(0);
});
