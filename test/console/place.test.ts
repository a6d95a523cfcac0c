import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { MAX_LINKED_INPUT, type Place, printPlace, readPlace } from '../../src/console/state/location.ts';

const place: Place = {
  app: '9001',
  ruleId: '1',
  confId: null,
  target: { kind: 'lane', lane: 'beta & co' },
  ts: '1795150000000',
  run: null,
  runs: [],
  input: '{"uid":9007199254740993,"cost":0.10}',
  panel: 'tests',
  source: 'runs',
  nodes: true,
  batch: '0d7e4b5a-7f52-4a36-9a55-6f1f0c2d9b1e',
  item: '12',
  caseName: 'spends 100, "enough"',
  find: 'text=uid%3D42+%26+K%C3%B6ln&outcome=FALSE',
};
const again = (given: Place) => {
  const address = new URL(`http://host/${printPlace(given)}`);
  return readPlace(address.search, address.hash);
};

describe('the address of a run', () => {
  test('defines it to the last digit', () => {
    expect(again(place)).toEqual(place);
    expect(again({ ...place, target: { kind: 'address', address: 'host/7/a:b' }, run: 'a-1' })).toMatchObject({
      target: { kind: 'address', address: 'host/7/a:b' },
      run: 'a-1',
    });
    expect(again({ ...place, target: { kind: 'each' }, runs: ['a', 'b'] })).toMatchObject({ runs: ['a', 'b'] });
  });

  test('keeps the input behind the #, where no server sees it', () => {
    const [query, hash] = printPlace(place).split('#');
    expect(query).not.toContain('uid');
    expect(hash).toContain('uid');
    expect(printPlace({ ...place, input: null }).split('#')).toEqual([query, expect.stringMatching(/^find=.*uid/)]);
  });

  test('leaves an input out that is no JSON or too long for a link', () => {
    expect(printPlace({ ...place, find: null, input: '{"a":' })).not.toContain('#');
    const long = JSON.stringify({ a: 'x'.repeat(MAX_LINKED_INPUT) });
    expect(printPlace({ ...place, find: null, input: long })).not.toContain('#');
  });

  test('is read leniently: what is wrong is as good as absent', () => {
    expect(readPlace('?app=x&rule=-1&ts=soon&target=somewhere', '#input={')).toEqual({
      app: null,
      ruleId: null,
      confId: null,
      target: { kind: 'all' },
      ts: null,
      run: null,
      runs: [],
      input: null,
      panel: null,
      source: 'cases',
      nodes: false,
      batch: null,
      item: null,
      caseName: null,
      find: null,
    });
  });

  test('carries any input', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const input = JSON.stringify(value);
        fc.pre(input.length < MAX_LINKED_INPUT);
        expect(again({ ...place, input }).input).toBe(input);
      }),
    );
  });
});
