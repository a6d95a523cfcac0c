import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { run } from '../sdks/run.ts';
import { answersWith, createResponder, resultText } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const folder = join(import.meta.dirname, 'dist/generated');
const tool = (name: string) => join(import.meta.dirname, 'node_modules/.bin', name);
const TIMEOUT_MS = 120_000;
let service: Service;
let responder: AsyncDisposable;

/** Calls that a user of a generated client writes: each prints the outcome, and what the rule wrote. */
const programs = {
  'openapi-fetch': `import createClient from 'openapi-fetch';
import type { paths } from './types.ts';
const client = createClient<paths>({ baseUrl: process.argv[2] ?? '' });
const body = { app: 42, ruleId: 1, 'the service': { income: 1 } };
const { data, error } = await client.POST('/rule-server/mock/execute', { body });
if (error || !('success' in data)) throw new Error(JSON.stringify(error));
const outcome: 'TRUE' | 'FALSE' | 'NONE' | null | undefined = data.outcome;
console.log(outcome, data['the service'].income);
`,
  'hey-api': `import { client } from './hey/client.gen.ts';
import { execute } from './hey/sdk.gen.ts';
client.setConfig({ baseUrl: process.argv[2] ?? '' });
const body = { app: 42, ruleId: 1, 'the service': { income: 1 } };
const { data, error } = await execute({ body });
if (error || !data || !('success' in data)) throw new Error(JSON.stringify(error));
const outcome: 'TRUE' | 'FALSE' | 'NONE' | null | undefined = data.outcome;
console.log(outcome, data['the service']['income']);
`,
};

beforeAll(async () => {
  service = await startService();
  const does = answersWith((request) => resultText(request, { outcome: 'TRUE', 'the service': { income: 1 } }));
  responder = await createResponder({ sharedDir: service.sharedDir, app: 42, does });
  await mkdir(folder, { recursive: true });
  const { text } = await service.call('/openapi.json');
  await writeFile(join(folder, 'openapi.json'), text);
  for (const [name, code] of Object.entries(programs)) await writeFile(join(folder, `${name}.ts`), code);
  await run(tool('openapi-typescript'), ['openapi.json', '-o', 'types.ts'], { cwd: folder, timeoutMs: TIMEOUT_MS });
  await run(tool('openapi-ts'), ['-i', 'openapi.json', '-o', 'hey', '--silent'], {
    cwd: folder,
    timeoutMs: TIMEOUT_MS,
  });
});
afterAll(async () => {
  await responder?.[Symbol.asyncDispose]();
  await service?.stop();
});

test.each(Object.keys(programs))('a client that is generated for %s compiles, and runs a rule', async (name) => {
  const strict = '--noEmit --strict --skipLibCheck --module preserve --moduleResolution bundler --target es2024';
  const checks = `${strict} --allowImportingTsExtensions --types node`;
  const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc');
  await run(tsc, ['--ignoreConfig', ...checks.split(' '), `${name}.ts`], { cwd: folder, timeoutMs: TIMEOUT_MS });
  const outfile = join(folder, `${name}.mjs`);
  await build({ entryPoints: [join(folder, `${name}.ts`)], outfile, bundle: true, platform: 'node', format: 'esm' });
  expect((await run(process.execPath, [outfile, service.url], { cwd: folder, timeoutMs: TIMEOUT_MS })).trim()).toBe(
    'TRUE 1',
  );
});

test('the description has no errors', async () => {
  await run(tool('redocly'), ['lint', 'openapi.json'], { cwd: folder, timeoutMs: TIMEOUT_MS });
});
