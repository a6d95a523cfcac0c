import { expect, test } from 'vitest';
import { Data } from '../../../src/client/engine/data/data.ts';
import { createStore } from '../../../src/client/engine/data/keys.ts';
import { makeLeaf } from '../../../src/client/leaves/make-leaf.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { RawNumber } from '../../../src/shared/contract/json/raw-number.ts';
import { objectOf } from '../../../src/shared/rules/members.ts';
import { readNode } from '../../../src/shared/rules/node-file.ts';
import { readRule } from '../../../src/shared/rules/rule-file.ts';
import { settingsOf } from '../../../src/worker/rules/leaves/leaf-settings.ts';

const context = { store: createStore({}), ts: 0, signal: () => new AbortController().signal };

class Check {
  min = 1;
  doFlow(): boolean {
    return this.min === 5;
  }
}

test('the members of a node are read in any case, and the very case before others', () => {
  const text =
    '{"ID":3,"STATUS":1,"Type":5,"CONFNAME":"Check","confname":"Other","ConfField":"{\\"MIN\\":5}","forwardid":"4","Inverse":"true"}';
  expect(readNode(objectOf(text), 3n)).toMatchObject({
    ...{ id: 3n, status: 1n, confName: 'Check', values: { MIN: new RawNumber('5') } },
    ...{ forwardId: 4n, inverse: true, type: { name: 'LeafFlow', leaf: true } },
  });
  expect(readNode(objectOf('{"id":3,"TYPE":6,"type":5,"confName":"Check"}')).type.name).toBe('LeafFlow');
});

test('so are the members of a rule', () => {
  const text = '{"Id":3,"Status":1,"CONFID":7,"SCENES":"a, b","timetype":5,"START":9}';
  const timeWindow = { type: 'after', start: 9n, end: null };
  expect(readRule(objectOf(text))).toMatchObject({ status: 1n, confId: 7n, scenes: ['a', 'b'], timeWindow });
});

test('the worker and the client read so the configured fields of a leaf', () => {
  const entry = createRegistry({ Check }).find('Check');
  if (entry === undefined) throw new Error('it is registered');
  const { body } = makeLeaf(entry, '{"MIN":5}');
  expect(body.kind === 'leaf' && body.run(new Data(context, null))).toBe('TRUE');
  const values = { MIN: new RawNumber('5'), Other: 'one' };
  const field = { field: 'min', name: '', type: 'double', value: null, shown: true };
  const leaf = { clazz: 'Check', type: 5, fields: [field], keys: [], incomplete: false, comparison: null };
  expect(settingsOf(leaf, values)).toEqual([
    { field: 'min', name: null, type: 'double', value: new RawNumber('5'), configured: true },
    { field: 'Other', name: null, type: null, value: 'one', configured: true },
  ]);
});
