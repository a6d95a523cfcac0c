import { expect, test } from 'vitest';
import { parseExact } from '../../../src/shared/contract/json/exact-json.ts';
import { type ExactObject, RawNumber } from '../../../src/shared/contract/json/raw-number.ts';
import { keysOf } from '../../../src/worker/rules/leaves/leaf-keys.ts';
import { parseLeafNodes } from '../../../src/worker/rules/leaves/leaf-nodes.ts';

type Part = { type: string; value?: string; ref?: string; fromKey?: string; parts?: Part[] };
type Access = { direction?: string; accessMode?: string; accessMethod?: string; valueType?: string };
type Field = { field: string; type: string; value?: unknown };

function keysRead(parts: Part[], values: ExactObject = {}, fields: Field[] = [], access: Access = {}) {
  const roamKeys = [{ direction: 'read', accessMode: 'direct', keyParts: parts, ...access }];
  const [leaf] = parseLeafNodes([{ type: 5, clazz: 'a.B', iceFields: fields, roamKeys }]);
  return leaf ? keysOf(leaf, values) : [];
}
const keyRead = (...from: Parameters<typeof keysRead>) => keysRead(...from)[0]?.key;
const field = (ref: string): Part => ({ type: 'field', ref });
const literal = (value: string): Part => ({ type: 'literal', value });

test.each([
  ['the exact name', 'key', { key: 'score', Key: 'no' }],
  ['the first letter lowered', 'Key', { key: 'score', KEY: 'no' }],
  ['any case', 'KEY', { kEy: 'score', k_e_y: 'no' }],
  ['snake for camel', 'keyName', { key_name: 'score' }],
  ['camel for snake', 'key_name', { keyName: 'score' }],
  ['snake for an exported Go name', 'KeyName', { key_name: 'score' }],
])('a field is found by %s', (_, ref, values) => {
  expect(keyRead([field(ref)], values)).toBe('score');
});

test('a field is found by its own name in another case rather than by one with other signs', () => {
  expect(keyRead([field('UserId')], { user_id: 'no', userId: 'score' })).toBe('score');
});

test("a field that nothing is called like is the leaf's only string field", () => {
  const values = { key: 'score', min: new RawNumber('5') };
  const number = { field: 'min', type: 'int' };
  expect(keyRead([field('KeyName')], values, [{ field: 'key', type: 'string' }, number])).toBe('score');
  expect(keyRead([field('KeyName')], values, [number])).toBe(`\${KeyName}`);
  expect(
    keyRead([field('KeyName')], values, [
      { field: 'key', type: 'string' },
      { field: 'b', type: 'string' },
    ]),
  ).toBe(`\${KeyName}`);
});

test.each([
  ['score', 'score'],
  [7, '7'],
  [true, 'true'],
])('a field that is not configured has the default its client publishes: %j', (value, key) => {
  const fields = [{ field: 'key', type: 'string', value }];
  expect(keyRead([field('key')], {}, fields)).toBe(key);
  expect(keyRead([field('key')], { key: 'configured' }, fields)).toBe('configured');
});

test('a way into a configured object leads to the value that is configured there', () => {
  expect(keyRead([field('config.from.key')], { config: { from: { key: 'score' } } })).toBe('score');
  expect(keyRead([field('config.from.key')], { config: { from: 'score' } })).toBe(`\${config.from.key}`);
});

test('a declared field without a value is not replaced by another one', () => {
  const fields = [
    { field: 'which', type: 'object' },
    { field: 'memo', type: 'string' },
  ];
  expect(keyRead([field('which')], { memo: 'no' }, fields)).toBe(`\${which}`);
});

test.each([
  ['9007199254740993', '9007199254740993'],
  ['1.0', '1.0'],
  ['true', 'true'],
  ['""', `\${key}`],
  ['null', `\${key}`],
  ['{"a":1}', `\${key}`],
  ['["a"]', `\${key}`],
])('the configured value %s is the key %s', (value, key) => {
  expect(keyRead([field('key')], { key: parseExact(value) })).toBe(key);
});

test('a composite joins its parts, however deep, and shows what is unknown', () => {
  const composite: Part = {
    type: 'composite',
    parts: [literal('pre_'), { type: 'composite', parts: [field('key'), literal('.x')] }],
  };
  expect(keysRead([composite], { key: 'a' })).toMatchObject([{ key: 'pre_a.x', dynamic: false }]);
  expect(keysRead([composite], { key: '' })).toMatchObject([{ key: 'pre_.x', dynamic: false }]);
  expect(keysRead([composite])).toMatchObject([{ key: `pre_\${key}.x`, dynamic: true }]);
  expect(keyRead([{ type: 'composite', parts: [literal('a'), { type: 'roamDerived', fromKey: 'b' }] }])).toBe(`a\${b}`);
});

test('a key read from another key names that key', () => {
  expect(keysRead([{ type: 'roamDerived', fromKey: 'which' }])).toMatchObject([{ key: `\${which}`, dynamic: true }]);
  expect(keyRead([{ type: 'roamDerived', fromKey: `\${key}` }], { key: 'score' })).toBe(`\${score}`);
  expect(keyRead([{ type: 'roamDerived', fromKey: `\${key}` }])).toBe(`\${key}`);
  expect(keyRead([{ type: 'roamDerived', fromKey: '?' }])).toBe(`\${?}`);
  expect(keyRead([{ type: 'something-new', value: 'x' }])).toBe(`\${?}`);
});

test('a union key loses its @, and a configured constant is not a key', () => {
  const union = { accessMode: 'union' };
  expect(keysRead([field('expr')], { expr: '@vip.level' }, [], union)).toMatchObject([
    { key: 'vip.level', nested: true },
  ]);
  expect(keyRead([literal('@uid')], {}, [], union)).toBe('uid');
  expect(keyRead([field('expr')], {}, [], union)).toBe(`\${expr}`);
  expect(keysRead([field('expr')], { expr: '5' }, [], union)).toEqual([]);
});

test('a key is typed by what the client declared, never by a configuration field that happens to have its name', () => {
  const fields = [{ field: 'score', type: 'double' }];
  expect(keysRead([literal('score')], {}, fields, { valueType: 'Long' })).toMatchObject([{ valueType: 'Long' }]);
  expect(keysRead([literal('score')], {}, fields, { valueType: 'Decimal' })).toMatchObject([{ valueType: 'Object' }]);
  expect(keysRead([literal('score')], {}, fields)).toMatchObject([{ valueType: 'Object' }]);
  expect(keysRead([literal('other')], {}, fields)).toMatchObject([{ valueType: 'Object' }]);
});

test('how a key is accessed is kept', () => {
  expect(keysRead([literal('a.b')], {}, [], { accessMethod: 'getDeep' })).toMatchObject([
    { nested: true, accessMethod: 'getDeep' },
  ]);
  expect(keysRead([literal('a.b')], {}, [], { accessMethod: 'get' })).toMatchObject([{ nested: false }]);
  expect(keysRead([literal('a')], {}, [], { direction: 'read_write' })).toMatchObject([{ direction: 'read_write' }]);
});

test('a key without a name is not a key', () => {
  expect(keysRead([])).toEqual([]);
  expect(keysRead([literal('')])).toEqual([]);
});

test.each([null, 'x', 5, {}, [null, 5, {}, { clazz: '' }, { clazz: 5 }]])(
  'nothing is made of leaf nodes like %j',
  (value) => {
    expect(parseLeafNodes(value)).toEqual([]);
  },
);

test('one bad entry does not hide its neighbours', () => {
  const leaves = parseLeafNodes([
    {
      clazz: 'a.B',
      type: 'x',
      roamKeys: [{ direction: 'sideways' }, null, { direction: 'read', keyParts: [literal('k'), null] }],
    },
    'junk',
    { clazz: 'a.C', type: new RawNumber('6'), iceFields: [{ field: 'f' }, {}], roamKeys: null },
  ]);
  expect(leaves).toMatchObject([
    { clazz: 'a.B', type: null, keys: [{ direction: 'read', parts: [{ value: 'k' }] }] },
    { clazz: 'a.C', type: 6, fields: [{ field: 'f', type: '' }], keys: [] },
  ]);
});

test('parts nested a thousand deep are cut, not followed', () => {
  let part: Part = literal('x');
  for (let depth = 0; depth < 1000; depth++) part = { type: 'composite', parts: [part] };
  expect(keysRead([part])).toEqual([]);
});
