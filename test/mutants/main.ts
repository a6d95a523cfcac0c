import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Mutant, mutants } from './mutants.ts';

// npm run mutants -- [--in CHECKOUT] [--whole] [NAME]: puts one fault after the other into a copy of a checkout (this one) and says which
// test notices: those that the file belongs to, then with --whole all of `npm test`, the browser, the processes, the embedded store.
const { values, positionals } = parseArgs({
  options: { in: { type: 'string', default: join(import.meta.dirname, '../..') }, whole: { type: 'boolean' } },
  allowPositionals: true,
});
const checkout = resolve(values.in);
const [named = ''] = positionals;

const RELATED = (file: string) => ['vitest', 'related', file, '--run', '--bail=1'];
const REST = [
  ['vitest', 'run', '--bail=1'],
  ['vitest', 'run', '--bail=1', '--config', 'test/console/journeys/vitest.config.ts'],
  ['vitest', 'run', '--bail=1', '--config', 'test/processes/vitest.config.ts'],
];

for (const mutant of mutants.filter(({ name }) => name.includes(named))) {
  const startedAt = performance.now();
  const noticed = await tryMutant(mutant);
  if (noticed === undefined) process.exitCode = 1;
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  console.log(`${noticed === undefined ? 'NOT NOTICED' : 'noticed'}\t${seconds} s\t${mutant.name}\t${noticed ?? ''}`);
}

/** The first test that fails with the fault in the code. Throws when the code that the fault changes is not there. */
async function tryMutant({ name, file, from, to }: Mutant): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-fault-'));
  try {
    const { stdout } = await run(checkout, ['git', 'ls-files', '-z']);
    for (const path of stdout.split('\0').filter(Boolean)) {
      await mkdir(dirname(join(folder, path)), { recursive: true });
      await cp(join(checkout, path), join(folder, path)).catch(() => {}); // deleted and not committed
    }
    await symlink(join(checkout, 'node_modules'), join(folder, 'node_modules'));
    await run(folder, ['git', 'init', '-q']);
    const parts = (await readFile(join(folder, file), 'utf8')).split(from);
    if (parts.length !== 2) throw new Error(`"${name}": its code stands ${parts.length - 1} times in ${file}`);
    await writeFile(join(folder, file), parts.join(to));
    for (const line of [RELATED(file), ...(values.whole ? REST : [])]) {
      const { status, stdout } = await run(folder, [
        join(folder, 'node_modules/.bin', line[0] ?? ''),
        ...line.slice(1),
      ]);
      if (status !== 0) return /^failed: (.*)$/m.exec(stdout)?.[1] ?? stdout.slice(-500);
    }
    return undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
