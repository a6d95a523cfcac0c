import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { mutants } from './mutants.ts';

const ROOT = join(import.meta.dirname, '../..');

// `npm run mutants` puts them in. Here only: that it could.
test.each(mutants.map((mutant) => [mutant.name, mutant] as const))(
  'can be put in: %s',
  async (_, { file, from, by }) => {
    const parts = (await readFile(join(ROOT, file), 'utf8')).split(from);
    expect(parts, `${file} has the code once`).toHaveLength(2);
    await access(join(ROOT, `test/${by}.test.ts`)); // a run of no tests passes
  },
);
