import { randomInt } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** What every random choice of this run comes from. */
    fuzzSeed: number;
    /** Where the cases that were tried are counted. */
    fuzzCounts: string;
  }
}

/** One line of the counts: how many cases of a kind were tried, and whether they went through a running service. */
export type Count = { what: string; cases: number; served: boolean };

/** What a whole run sends through a running service at the least. */
const SERVED_AT_LEAST = 20_000;

/** Says which seed this run has, so that FUZZ_SEED can repeat it, and at the end how many cases it tried. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const seed = process.env.FUZZ_SEED ? Number(process.env.FUZZ_SEED) : randomInt(2 ** 31);
  if (!Number.isInteger(seed)) throw new Error(`FUZZ_SEED must be an integer, found ${process.env.FUZZ_SEED}`);
  process.stdout.write(`Seed of this run: FUZZ_SEED=${seed}\n`);
  project.provide('fuzzSeed', seed);
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-fuzz-'));
  const path = join(folder, 'counts.jsonl');
  await writeFile(path, '');
  project.provide('fuzzCounts', path);
  return async () => {
    const lines = (await readFile(path, 'utf8')).split('\n').filter((line) => line !== '');
    await rm(folder, { recursive: true });
    report(lines.map((line): Count => JSON.parse(line)));
  };
}

function report(counts: Count[]): void {
  const served = counts.filter((count) => count.served).reduce((sum, { cases }) => sum + cases, 0);
  const each = counts.map(({ what, cases }) => `${cases} ${what}`).join(', ');
  process.stdout.write(`\nTried: ${each}. ${served} of them through a running service.\n`);
  const isWhole = counts.some(({ what }) => what === 'bodies') && counts.some(({ what }) => what === 'broken results');
  if (!isWhole || served >= SERVED_AT_LEAST) return;
  process.stdout.write(`A whole run tries ${SERVED_AT_LEAST} at least, so this one has failed.\n`);
  process.exitCode = 1;
}
