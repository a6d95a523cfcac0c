import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from './mutants.ts';

// npm run mutants -- [--in CHECKOUT] [--whole] [NAME]: puts one fault after the other into a copy of a checkout (this one) and says which
// test notices: the one named with it, those that the file belongs to, then with --whole all of `npm test`, the browser, the processes.
// What fails without the fault too, or only now and then, as on a machine that is too busy, notices nothing.
const { values, positionals } = parseArgs({
  options: { in: { type: 'string', default: join(import.meta.dirname, '../..') }, whole: { type: 'boolean' } },
  allowPositionals: true,
});
const checkout = resolve(values.in);
const [named = ''] = positionals;

const FIRST = ({ by, file }: Mutant) => [
  ['run', `test/${by}.test.ts`, '--passWithNoTests'],
  ['related', file, '--run'],
];
const REST = [
  ['run'],
  ['run', '--config', 'test/console/journeys/vitest.config.ts'],
  ['run', '--config', 'test/processes/vitest.config.ts'],
];

for (const mutant of mutants.filter(({ name }) => name.includes(named))) {
  const startedAt = performance.now();
  const { told, by } = await tryMutant(mutant);
  if (told !== 'noticed') process.exitCode = 1;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`${told}\t${seconds} s\t${mutant.name}\t${by}`);
}

type Told = { told: 'noticed' | 'NOT NOTICED' | 'NOT THERE'; by: string };

/** The first test that fails with the fault in the code, passes without it, and fails again with it. */
async function tryMutant(mutant: Mutant): Promise<Told> {
  const { file, from, to } = mutant;
  const text = await readFile(join(checkout, file), 'utf8').catch(() => '');
  const parts = text.split(from);
  if (parts.length !== 2) return { told: 'NOT THERE', by: `its code stands ${parts.length - 1} times in ${file}` };
  const folder = await copyOf(checkout);
  try {
    const failureOf = async (line: readonly string[], code: string) => {
      await writeFile(join(folder, file), code);
      const vitest = join(folder, 'node_modules/.bin/vitest');
      const { status, stdout } = await run(folder, [vitest, ...line, '--bail=1']);
      return status === 0 ? undefined : (/^failed: (.*)$/m.exec(stdout)?.[1] ?? stdout.slice(-500));
    };
    const doubted: string[] = [];
    for (const line of [...FIRST(mutant), ...(values.whole ? REST : [])]) {
      for (;;) {
        const failed = await failureOf([...line, ...doubted.map((path) => `--exclude=${path}`)], parts.join(to));
        if (failed === undefined) break;
        const [path = ''] = failed.split(' > ');
        if (!path.endsWith('.ts')) return { told: 'noticed', by: failed }; // it does not even start
        const alone = ['run', path, ...(line.includes('--config') ? line.slice(-2) : [])];
        const isSure = !(await failureOf(alone, text)) && (await failureOf(alone, parts.join(to)));
        if (isSure) return { told: 'noticed', by: isSure };
        doubted.push(path);
      }
    }
    return { told: 'NOT NOTICED', by: doubted.length > 0 ? `in doubt: ${doubted.join(', ')}` : '' };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyOf(from: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-fault-'));
  const { stdout } = await run(from, ['git', 'ls-files', '-z']);
  for (const path of stdout.split('\0').filter(Boolean)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(join(from, path), join(folder, path)).catch(() => {}); // deleted and not committed
  }
  await symlink(join(from, 'node_modules'), join(folder, 'node_modules'));
  await run(folder, ['git', 'init', '-q']);
  return folder;
}

function run(cwd: string, [command = '', ...line]: readonly string[]): Promise<{ status: number; stdout: string }> {
  const child = spawn(command, line, { cwd, stdio: ['ignore', 'pipe', 'ignore'] });
  const chunks: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
  const { promise, resolve: done, reject } = Promise.withResolvers<{ status: number; stdout: string }>();
  child.on('error', reject);
  child.on('close', (code) => done({ status: code ?? 1, stdout: Buffer.concat(chunks).toString() }));
  return promise;
}
