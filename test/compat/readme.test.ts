import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildClient } from '../client/support/build-client.ts';
import { until } from '../client/support/client-files.ts';
import { inRepository } from '../client/support/own-package.ts';
import { run } from '../sdks/run.ts';
import { createRuleFiles } from '../support/rule-files.ts';

const root = join(import.meta.dirname, '../..');
const example = join(root, 'dist', 'readme-example.ts');
const typedExample = join(root, 'dist', 'readme-typed-example.ts');
const tsc = join(root, 'node_modules', '.bin', 'tsc');
const refused = join(root, 'dist', 'readme-refused.ts');
const doesNotCompile = `
// @ts-expect-error: the data has no such key
export const Misspelt = flow({}, (service) => service.double('cots', 0) > 1);
// @ts-expect-error: a text is no cost
await client.run({ ruleId: 1, data: { cost: 'much' } });
`;

beforeAll(async () => {
  await buildClient();
  const readme = await readFile(join(root, 'src/client/README.md'), 'utf8');
  const [code = '', typed = ''] = [...readme.matchAll(/```ts\n(.*?)```/gs)].map(([, text]) => inRepository(text ?? ''));
  await mkdir(join(root, 'dist'), { recursive: true });
  await writeFile(example, code);
  await writeFile(typedExample, typed);
  await writeFile(refused, `${typed}\n${doesNotCompile}`);
});
afterAll(async () => {
  for (const path of [example, typedExample, refused]) await rm(path, { force: true });
});

test('the examples of the README are complete: they compile against the built package as they stand, and what does not fit the data does not', async () => {
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  await run(tsc, [...options, '--ignoreConfig', example, typedExample, refused], { cwd: root, timeoutMs: 60_000 });
});

test('the example with a schema runs on the built package', async () => {
  const files = await createRuleFiles();
  const nodes = [
    { id: 1, type: 1, sonIds: '2,3' },
    { id: 2, type: 5, confName: 'com.example.SpentAtLeast' },
    { id: 3, type: 6, confName: 'com.example.GiveCoupon', confField: '{"amount":20}' },
  ];
  for (const node of nodes) await files.write(JSON.stringify({ status: 1, ...node }), 1, 'confs', `${node.id}.json`);
  await files.write('{"id":1,"confId":1,"status":1}', 1, 'bases', '1.json');
  const env = { ...process.env, SHARED_DIR: files.sharedDir };
  const said = await run(process.execPath, [typedExample], { cwd: root, env, timeoutMs: 30_000 });
  expect(said).toBe('20\n');
  await files.remove();
});

test('the example runs on the built package: a rule of its own, a request of the server, an orderly end', async () => {
  const files = await createRuleFiles();
  const released = { status: 1, timeType: 1 };
  const nodes = [
    { id: 1, type: 1, sonIds: '2,3' },
    { id: 2, type: 5, confName: 'com.example.SpentAtLeast', confField: '{"min":50}' },
    { id: 3, type: 6, confName: 'com.example.GiveCoupon', confField: '{"amount":20}' },
  ];
  for (const node of nodes) await files.write(JSON.stringify({ ...released, ...node }), 1, 'confs', `${node.id}.json`);
  await files.write(JSON.stringify({ id: 1, confId: 1, ...released }), 1, 'bases', '1.json');

  const env = { ...process.env, SHARED_DIR: files.sharedDir };
  const child = spawn(process.execPath, [example], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text));
  try {
    await until(async () => output.includes('\n') || undefined);
    expect(output).toBe('TRUE { uid: 9007199254740993n, amount: 20 }\n');
    const latest = JSON.parse(await readFile(files.pathOf('clients', 1, '_latest.json'), 'utf8'));
    expect(latest.leafNodes).toMatchObject([
      { clazz: 'com.example.SpentAtLeast', roamKeys: [{ keyParts: [{ value: 'cost' }], valueType: 'Double' }] },
      { clazz: 'com.example.GiveCoupon', roamKeys: [{ valueType: 'Long' }, { direction: 'write', valueType: 'Map' }] },
    ]);
    await files.write('{"mockId":"m1","ruleId":1,"the service":{"cost":49.99}}', 'mock', 1, latest.address, 'm1.json');
    const result = files.pathOf('mock', 1, latest.address, 'm1_result.json');
    const answer = JSON.parse(await until(() => readFile(result, 'utf8').catch(() => undefined)));
    expect(answer).toMatchObject({ success: true, outcome: 'FALSE', 'the service': { cost: 49.99 } });
    await rm(result);
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
    expect(output.split('\n')).toHaveLength(2);
  } finally {
    child.kill('SIGKILL');
    await files.remove();
  }
});
