import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { run } from '../sdks/run.ts';

const root = join(import.meta.dirname, '../..');
const REPORT = 'docs/client-api.md';
const git = async (...line: string[]) => (await promisify(execFile)('git', line, { cwd: root })).stdout.trim();

/** The declarations that somebody who imports the package can see, file by file, without comments. Where a file is kept is not told. */
async function declarations(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'client-api-'));
  try {
    const options = ['-p', 'tsconfig.client.json', '--outDir', folder, '--emitDeclarationOnly', '--removeComments'];
    await run(join(root, 'node_modules/.bin/tsc'), options, { cwd: root, timeoutMs: 60_000 });
    const texts = new Map<string, string>();
    const next = ['client', 'anywhere', 'testing'].map((name) => join(folder, `client/${name}.d.ts`));
    for (const path of next) {
      const name = relative(folder, path);
      if (texts.has(name)) continue;
      const text = await readFile(path, 'utf8');
      texts.set(name, text.replace(/^\/\/# sourceMappingURL.*\n?|^import .* from '\.[^']*';\n/gm, '').trim());
      for (const [, from = ''] of text.matchAll(/from '(\.[^']+)'/g))
        next.push(resolve(dirname(path), from.replace(/\.(ts|js)$/, '.d.ts')));
    }
    const named = [...texts].map(([name, text]) => `// ${basename(name)}\n${text}\n`);
    return named.toSorted().join('\n');
  } finally {
    await rm(folder, { recursive: true });
  }
}

test('the report of the public types is what the package declares', async () => {
  const text = [
    '# The types of the client',
    '',
    'Everything that a program which imports `rule-server-client`, `rule-server-client/anywhere` or `rule-server-client/testing` can see. A change here is',
    'a change for those who use the package: it needs a line in [CHANGELOG.md](../CHANGELOG.md), and the tests refuse one without.',
    '',
    '`npx vitest run test/client/api-report.test.ts -u` writes this file.',
    '',
    '```ts',
    (await declarations()).trimEnd(),
    '```',
    '',
  ].join('\n');
  await expect(text).toMatchFileSnapshot(`../../${REPORT}`);
});

test('the last change of the report came with a change of the changelog', async () => {
  const uncommitted = (await git('status', '--porcelain', '--', REPORT, 'CHANGELOG.md')).split('\n');
  if (uncommitted.some((line) => line.endsWith(REPORT)))
    expect(uncommitted).toContainEqual(expect.stringContaining('CHANGELOG.md'));
  const commit = await git('log', '-1', '--format=%H', '--', REPORT);
  const changed =
    commit === '' ? ['CHANGELOG.md'] : (await git('show', '--format=', '--name-only', commit)).split('\n');
  expect(changed).toContain('CHANGELOG.md');
});
