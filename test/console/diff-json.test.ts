import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compareNumbers, diffJson, sameJson } from '../../src/console/json/diff-json.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';

const parsed = (text: string) => {
  const read = readJson(text);
  if (read.kind === 'bad') throw new Error(read.fault.problem);
  return read.root;
};
const changes = (before: string, after: string) =>
  diffJson(parsed(before), parsed(after)).changes.map(({ kind, path }) => `${kind} ${path}`);

describe('what changed between two documents', () => {
  test('by key, in the order of the later one, what is gone at the end', () => {
    expect(changes('{"a":1,"b":2,"c":3}', '{"c":3,"d":4,"a":5}')).toEqual([
      'same c',
      'added d',
      'changed a',
      'removed b',
    ]);
  });

  test('inside objects and lists, by path', () => {
    expect(changes('{"vip":{"level":1,"since":2}}', '{"vip":{"level":2,"since":2}}')).toEqual([
      'changed vip.level',
      'same vip.since',
    ]);
    expect(changes('{"items":[{"x":1},{"x":2}]}', '{"items":[{"x":1},{"x":3},{"x":4}]}')).toEqual([
      'same items[0]',
      'changed items[1].x',
      'added items[2]',
    ]);
  });

  test('another type is a change, null is a value', () => {
    expect(changes('{"a":1,"b":null,"c":{}}', '{"a":"1","c":[]}')).toEqual(['changed a', 'changed c', 'removed b']);
  });

  test('an integer that lost digits on the way is no ordinary change', () => {
    expect(changes('{"uid":9007199254740993}', '{"uid":9007199254740992}')).toEqual(['rounded uid']);
    expect(changes('{"uid":9223372036854775807}', '{"uid":9223372036854776000}')).toEqual(['rounded uid']);
    expect(changes('{"uid":9007199254740993}', '{"uid":9007199254740994}')).toEqual(['changed uid']);
  });

  test('the same number in other digits is told apart from another number', () => {
    expect(compareNumbers('1', '1.0')).toBe('rewritten');
    expect(compareNumbers('0.10', '1e-1')).toBe('rewritten');
    expect(compareNumbers('-0', '0')).toBe('rewritten');
    expect(compareNumbers('1e400', '1e401')).toBe('different');
    expect(compareNumbers('1e400', '1e400')).toBe('same');
    expect(compareNumbers('100', '1E2')).toBe('rewritten');
  });

  test('a document has no differences from itself, and sameJson agrees', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.dictionary(fc.string(), fc.jsonValue()),
        (one, two) => {
          const [a, b] = [JSON.stringify(one), JSON.stringify(two)];
          expect(changes(a, a).every((change) => change.startsWith('same '))).toBe(true);
          expect(changes(a, b).every((change) => change.startsWith('same '))).toBe(sameJson(parsed(a), parsed(b)));
        },
      ),
    );
  });

  test('of very many differences the first are listed and the rest is counted', () => {
    const many = `{${Array.from({ length: 2500 }, (_, index) => `"k${index}":1`).join(',')}}`;
    const { changes: listed, notListed } = diffJson(parsed('{}'), parsed(many));
    expect([listed.length, notListed]).toEqual([2000, 500]);
  });
});
