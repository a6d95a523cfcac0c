import { expect, it } from 'vitest';
import { makeEarlierVersion } from '../support/earlier-version.ts';
import { makeNextVersion } from '../support/next-version.ts';

// The suite with two versions runs seldom: an edit that no longer fits is found here, at once.
it.each([
  ['an earlier', makeEarlierVersion],
  ['the next', makeNextVersion],
])('%s version of this program can be made from the code as it is', async (_, make) => {
  await using program = await make();
  expect(program.root).toBeTruthy();
});
