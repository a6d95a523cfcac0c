import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { makeEarlierVersion } from '../support/earlier-version.ts';
import { makeNextVersion } from '../support/next-version.ts';

// The suite with two versions runs seldom: an edit that no longer fits is found here, at once.
it.each([
  ['an earlier', makeEarlierVersion, 'src/api/calls/submit-execution.ts', 'storeRun: undefined'],
  ['the next', makeNextVersion, 'src/shared/contract/job.ts', 'JOB_VERSION = 3;'],
])('%s version of this program can be made from the code as it is', async (_, make, file, text) => {
  await using program = await make();
  expect(await readFile(join(program.root, file), 'utf8')).toContain(text);
});
