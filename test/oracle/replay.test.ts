import { expect, test } from 'vitest';
import { checkReplay } from './replay.ts';

// `npm run oracle replay` tries more of them.
test('what is called same or changed of random rules is, by runs of both versions for real', async () => {
  const kinds = new Set<string>();
  for (let seed = 1000; seed < 1060; seed++)
    for (const kind of Object.keys(await checkReplay(seed, 5))) kinds.add(kind.split(',').slice(0, 2).join());
  expect([...kinds].sort()).toEqual(
    ['dry', 'real'].flatMap((how) => ['changed', 'same', 'unknown'].map((kind) => `${how}, ${kind}`)),
  );
});
