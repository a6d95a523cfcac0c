import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { type Change, type Mutant, mutants, PLAN, SEEDS } from './mutants.ts';

/** Whether and how a mutant was caught. `schedule`: what shows it, as `step kind process`; of a large world its seed. */
export type Caught = { mutant: Mutant; caught: string | undefined; schedule: string; seconds: number };

const ROOT = join(import.meta.dirname, '../../..');
/** More than any of them needs. */
const SCHEDULES = 200_000;
const SEEDS_AT_MOST = 2000;

/** Takes one guard out of a copy of the code, and searches the world that must notice. Throws when the guard is not there any more. */
export async function tryMutant(mutant: Mutant): Promise<Caught> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-mutant-'));
  try {
    for (const name of ['src', 'test/simulator', 'package.json'])
      await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    for (const change of [mutant, ...(mutant.also ?? [])]) await makeChange(folder, change, mutant.name);
    const startedAt = performance.now();
    const output = await run(folder, optionsFor(mutant));
    const seconds = (performance.now() - startedAt) / 1000;
    const [, said] = /^broken: (.*)$/m.exec(output) ?? [];
    const caught = said === 'undefined' ? undefined : said;
    if (
      caught?.startsWith('the scene itself failed') ||
      (said === undefined && !/^(not )?exhausted|seeds in/m.test(output))
    )
      throw new Error(`"${mutant.name}": ${output.slice(-2000)}`);
    return { mutant, caught, schedule: scheduleIn(output), seconds };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const scheduleSchema = z.array(
  z.tuple([z.int(), z.looseObject({ kind: z.string(), process: z.string().optional(), to: z.string().optional() })]),
);

/** The schedule that a search told, shortened; or the seed of the large world. */
function scheduleIn(output: string): string {
  const seed = /^broken: (seed \d+)/m.exec(output)?.[1];
  const told = /^schedule: (.*)$/m.exec(output)?.[1];
  if (seed !== undefined) return seed;
  const { data = [] } = scheduleSchema.safeParse(JSON.parse(told ?? '[]'));
  const steps = data.map(([at, { kind, process = '', to = process }]) => `${at} ${kind} ${to}`.trim());
  return steps.length === 0 ? 'the usual order' : steps.join(', ');
}

/** Large worlds, the same ones each time; or one small world. */
function optionsFor({ world }: Mutant): string[] {
  if (world.startsWith(PLAN)) return ['--plan', world.slice(PLAN.length).trim()];
  if (!world.startsWith(SEEDS)) return ['--world', world, '--schedules', String(SCHEDULES)];
  return ['--seed', world.slice(SEEDS.length).trim() || '1', '--seeds', String(SEEDS_AT_MOST)];
}

async function makeChange(folder: string, { file, from, to }: Change, name: string): Promise<void> {
  const path = join(folder, file);
  const parts = (await readFile(path, 'utf8')).split(from);
  if (parts.length !== 2)
    throw new Error(`"${name}" does not apply: its guard stands ${parts.length - 1} times in ${file}`);
  await writeFile(path, parts.join(to));
}

function run(folder: string, options: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(folder, 'test/simulator/simulate.ts'), ...options], { cwd: folder });
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
    if (/^broken: seed.*$/m.test(output)) child.kill(); // it would be made shorter now, which takes minutes
  });
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.on('close', () => resolve(output)));
}

/** Tries all mutants, one after the other. */
export async function* tryMutants(named = ''): AsyncGenerator<Caught> {
  for (const mutant of mutants) if (mutant.name.includes(named)) yield await tryMutant(mutant);
}
