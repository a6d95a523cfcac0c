import { expect, test } from 'vitest';
import { Data } from '../../../src/client/engine/data/data.ts';
import { createStore } from '../../../src/client/engine/data/keys.ts';
import { makeLeaf } from '../../../src/client/leaves/make-leaf.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { objectOf } from '../../../src/client/rules/members.ts';
import { readNode } from '../../../src/client/rules/node-file.ts';
import { readRule } from '../../../src/client/rules/rule-file.ts';
import { RawNumber } from '../../../src/shared/contract/json/raw-number.ts';
import { settingsOf } from '../../../src/worker/rules/leaves/leaf-settings.ts';
import { parseNode } from '../../../src/worker/rules/node-file.ts';
import { parseRule } from '../../../src/worker/rules/rule-file.ts';

const context = { store: createStore({}), ts: 0, signal: () => new AbortController().signal };

class Check {
  min = 1;
  doFlow(): boolean {
    return this.min === 5;
  }
}

test('the worker and the client read the members of a file in any case, and the very case before others', () => {
  const text =
    '{"ID":3,"STATUS":1,"Type":5,"CONFNAME":"Check","confname":"Other","ConfField":"{\\"MIN\\":5}","forwardid":"4","Inverse":"true"}';
  const worker = parseNode(text, 3n);
  if (worker.kind !== 'found') throw new Error(JSON.stringify(worker));
  const client = readNode(objectOf(text));
  const { confName, forwardId, inverse } = client;
  expect(worker.value).toMatchObject({ id: 3n, confName, forwardId, inverse, type: { leaf: true } });
  expect({ confName, forwardId, inverse }).toEqual({ confName: 'Check', forwardId: 4n, inverse: true });
  const exact = '{"id":3,"TYPE":6,"type":5,"confName":"Check"}';
  expect([parseNode(exact, 3n), readNode(objectOf(exact)).type]).toMatchObject([
    { value: { type: { name: 'LeafFlow' } } },
    5n,
  ]);
});

test('so they do the members of a rule', () => {
  const text = '{"Id":3,"Status":1,"CONFID":7,"SCENES":"a, b","timetype":5,"START":9}';
  const worker = parseRule(text, 3n);
  const { confId, scenes, window } = readRule(objectOf(text));
  expect(worker).toMatchObject({ value: { status: 1n, confId, scenes, timeWindow: { type: 'after', start: 9n } } });
  expect({ confId, scenes, window }).toEqual({ confId: 7n, scenes: ['a', 'b'], window: { after: 9n, before: null } });
});

test('so they do the configured fields of a leaf', () => {
  const entry = createRegistry({ Check }).find('Check');
  if (entry === undefined) throw new Error('it is registered');
  const { body } = makeLeaf(entry, '{"MIN":5}');
  expect(body.kind === 'leaf' && body.run(new Data(context, null))).toBe('TRUE');
  const values = { MIN: new RawNumber('5'), Other: 'one' };
  const field = { field: 'min', name: '', type: 'double', value: null, shown: true };
  const leaf = { clazz: 'Check', type: 5, fields: [field], keys: [], comparison: null };
  expect(settingsOf(leaf, values)).toEqual([
    { field: 'min', name: null, type: 'double', value: new RawNumber('5'), configured: true },
    { field: 'Other', name: null, type: null, value: 'one', configured: true },
  ]);
});
