import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { type SchemaName, schemaOf } from '../../src/cli/file-schemas.ts';
import { answers, createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/use/rule-files.md'), 'utf8');
const examples = [...DOCUMENT.matchAll(/^```json\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .map((line) => JSON.parse(line) as Record<string, unknown>);

/** What is wrong with a file, by the schema alone. */
function faultsOf(name: SchemaName, file: unknown): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const validate = ajv.compile(JSON.parse(schemaOf(name)));
  return validate(file) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath);
}

describe('the JSON Schema of rule files', () => {
  it.each(examples)('takes %j, as the document has it', (file) => {
    const name = 'version' in file ? 'update' : 'type' in file ? 'node' : 'rule';
    expect(faultsOf(name, file)).toEqual([]);
  });

  it.each<[SchemaName, object, string]>([
    ['rule', { name: 'no id' }, ''],
    ['rule', { id: 0 }, '/id'],
    ['node', { id: 1 }, ''],
    ['node', { id: 1, type: 'x' }, '/type'],
    ['node', { id: 1, type: 1, sonIds: '2,,3' }, '/sonIds'],
    ['node', { id: 1, type: 5, confField: { min: 1 } }, '/confField'],
    ['update', { version: 2, insertOrUpdateConfs: [{ id: 1 }] }, '/insertOrUpdateConfs/0'],
  ])('%s: names what is wrong with %j', (name, file, path) => {
    expect(faultsOf(name, file)).toContain(path);
  });

  it('takes numbers as text, as clients do', () => {
    expect(faultsOf('node', { id: '9007199254740993', type: '5', confName: 'a.B', forwardId: '0' })).toEqual([]);
  });
});

describe('the JSON Schema of the files between workers and clients', () => {
  it('takes the requests that a worker writes, and an answer as a client writes it', async () => {
    await using service = await startService();
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers(), dryRun: true });
    const { json } = await service.execute(
      '{"app":1,"ruleId":9007199254740993,"confId":2,"ts":3,"debug":1,"the service":{"a":1}}',
    );
    await service.execute({ app: 1, confId: 2, dryRun: true, stub: { 7: 'TRUE' } });
    expect(client.found.map(({ text }) => faultsOf('request', JSON.parse(text)))).toEqual([[], []]);
    expect(faultsOf('answer', json)).toEqual([]);
  });

  it.each<[SchemaName, object, string]>([
    ['request', { mockId: 'x', app: 1, 'the service': {}, target: 'all', createAt: 1 }, '/mockId'],
    ['request', { mockId: '94de541c-6a1f-4d3c-9c7e-2f6d1c0b8a55', app: 1, target: 'all', createAt: 1 }, ''],
    ['answer', {}, ''],
    ['answer', { success: 'yes' }, '/success'],
    ['answer', { success: true, 'the service': [] }, '/the service'],
    ['answer', { success: true, executeAt: 'now' }, '/executeAt'],
  ])('%s: names what is wrong with %j', (name, file, path) => {
    expect(faultsOf(name, file)).toContain(path);
  });
});
