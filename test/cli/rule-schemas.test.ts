import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { type RuleFileName, ruleFileSchema } from '../../src/cli/rule-schemas.ts';

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/rule-files.md'), 'utf8');
const examples = [...DOCUMENT.matchAll(/^```json\n(.*?)^```$/gms)]
  .flatMap(([, block = '']) => block.trim().split('\n'))
  .map((line) => JSON.parse(line) as Record<string, unknown>);

/** What is wrong with a file, by the schema alone. */
function faultsOf(name: RuleFileName, file: unknown): string[] {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  const validate = ajv.compile(JSON.parse(ruleFileSchema(name)));
  return validate(file) ? [] : (validate.errors ?? []).map(({ instancePath }) => instancePath);
}

describe('the JSON Schema of rule files', () => {
  it.each(examples)('takes %j, as the document has it', (file) => {
    const name = 'version' in file ? 'update' : 'type' in file ? 'node' : 'rule';
    expect(faultsOf(name, file)).toEqual([]);
  });

  it.each<[RuleFileName, object, string]>([
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
