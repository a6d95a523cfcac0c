import { expect, test } from 'vitest';
import { createRegistry } from '../../../src/client/leaves/registry.ts';

class Full {
  text = 'a';
  count = 1;
  big = 1n;
  flag = false;
  list: string[] = [];
  map: Record<string, unknown> = {};
  anything = undefined;
  _hidden = 1;
  helper = () => 1;
  #secret = 1;
  doFlow(): boolean {
    return this.#secret === 1;
  }
}

test('the public fields of a leaf are what a rule can configure, typed by their defaults', () => {
  const [entry] = createRegistry({ 'com.x.Full': Full }).entries;
  expect(entry?.kind).toBe(5);
  expect(entry?.fields.map(({ field, type, offered }) => `${field} ${type} ${offered}`)).toEqual([
    'text string true',
    'count double true',
    'big long true',
    'flag boolean true',
    'list list true',
    'map map true',
    'anything object true',
  ]);
});

test('described fields are the offered ones', () => {
  const fields = { count: { name: 'Count', desc: 'how many', type: 'int' as const } };
  const [entry] = createRegistry({ Full: { leaf: Full, fields } }).entries;
  expect(entry?.fields.filter(({ offered }) => offered)).toMatchObject([
    { field: 'count', name: 'Count', desc: 'how many', type: 'int' },
  ]);
  expect(entry?.fields).toHaveLength(7);
});

test('a name that stands twice, or a class without a method, stops the start', () => {
  expect(() => createRegistry({ A: Full, B: { leaf: Full, alias: 'A' } })).toThrow('two leaves are called A: A and B');
  expect(() => createRegistry(Object.assign(JSON.parse('{}'), { Empty: class {} }))).toThrow(
    'the leaf Empty has none of the methods doFlow, doResult and doNone',
  );
});
