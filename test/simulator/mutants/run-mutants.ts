import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Mutant, mutants } from './mutants.ts';

/** Whether and how a mutant was caught. */
export type Caught = { mutant: Mutant; caught: string | undefined; seconds: number };

const ROOT = join(import.meta.dirname, '../../..');
const WITHIN_MS = 60_000;

/** Takes one guard out of a copy of the code, and searches the world that must notice. Throws when the guard is not there any more. */
export async function tryMutant(mutant: Mutant): Promise<Caught> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-mutant-'));
  try {
    for (const name of ['src', 'test/simulator', 'package.json'])
      await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const path = join(folder, mutant.file);
    const text = await readFile(path, 'utf8');
    const parts = text.split(mutant.from);
    if (parts.length !== 2)
      throw new Error(`"${mutant.name}" does not apply: its guard stands ${parts.length - 1} times in ${mutant.file}`);
    await writeFile(path, parts.join(mutant.to));
    const startedAt = performance.now();
    const output = await run(folder, ['--world', mutant.world, '--seconds', String(WITHIN_MS / 1000)]);
    const caught = /^broken: (.*)$/m.exec(output)?.[1];
    if (caught === undefined && !/^(not )?exhausted/m.test(output))
      throw new Error(`"${mutant.name}": ${output.slice(-2000)}`);
    return { mutant, caught, seconds: (performance.now() - startedAt) / 1000 };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function run(folder: string, options: readonly string[]): Promise<string> {
  const child = spawn(process.execPath, [join(folder, 'test/simulator/simulate.ts'), ...options], { cwd: folder });
  let output = '';
  child.stdout.on('data', (chunk) => (output += String(chunk)));
  child.stderr.on('data', (chunk) => (output += String(chunk)));
  return new Promise((resolve) => child.on('close', () => resolve(output)));
}

/** Tries all mutants, one after the other. */
export async function* tryMutants(named = ''): AsyncGenerator<Caught> {
  for (const mutant of mutants) if (mutant.name.includes(named)) yield await tryMutant(mutant);
}
