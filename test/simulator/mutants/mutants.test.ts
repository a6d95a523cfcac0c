import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { plans } from '../search/plans.ts';
import { smallWorlds } from '../small-worlds.ts';
import { mutants, PLAN, SEEDS } from './mutants.ts';

const ROOT = join(import.meta.dirname, '../../..');

// `npm run simulate -- --mutants` takes them out. Here only: that it could.
test.each(mutants.map((mutant) => [mutant.name, mutant] as const))('can be taken out: %s', async (_, mutant) => {
  for (const { file, from } of [mutant, ...(mutant.also ?? [])]) {
    const parts = (await readFile(join(ROOT, file), 'utf8')).split(from);
    expect(parts, `${file} has the guard once`).toHaveLength(2);
  }
  const isPlan = mutant.world.startsWith(PLAN) && Object.hasOwn(plans, mutant.world.slice(PLAN.length).trim());
  const isThere =
    isPlan || mutant.world.startsWith(SEEDS) || smallWorlds.some(({ name }) => name.includes(mutant.world));
  expect(isThere, mutant.world).toBe(true);
});
