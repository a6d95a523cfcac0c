import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { scanJson } from '../../src/shared/contract/json/exact-json.ts';
import { compactJson, prettyJson } from '../../src/shared/json-tree/print-json.ts';
import { type Json, readJson } from '../../src/shared/json-tree/read-json.ts';

const read = (text: string): Json => {
  const found = readJson(text);
  if (found.kind === 'bad') throw new Error(`${text}: ${found.fault.problem}`);
  return found.root;
};
const minified = (text: string) => compactJson(read(text));

describe('reading an exact document', () => {
  test.each(['9007199254740993', '0.10', '-0', '1e400', '1.0', '123456789012345678901234567890', '1E+2'])(
    'the number %s stays as it was written',
    (number) => {
      expect(minified(`{"a": [${number}]}`)).toBe(`{"a":[${number}]}`);
    },
  );

  test('keys keep their order, also those that look like numbers', () => {
    expect(minified('{"b":1,"10":2,"2":3,"__proto__":4,"a":5}')).toBe('{"b":1,"10":2,"2":3,"__proto__":4,"a":5}');
  });

  test('every value knows where in the text it stands', () => {
    const text = ' {"a" : [ 1 , "x\\"y" ], "b": {} } ';
    const root = read(text);
    if (root.kind !== 'object') throw new Error('no object');
    expect(
      root.members.map(({ keyStart, value }) => [
        text.slice(keyStart, keyStart + 3),
        text.slice(value.start, value.end),
      ]),
    ).toEqual([
      ['"a"', '[ 1 , "x\\"y" ]'],
      ['"b"', '{}'],
    ]);
  });

  test.each([
    ['{\n  "a": 1,\n  "b": tru\n}', 3, 8],
    ['{\n  "a": 01\n}', 2, 9],
    ['{"a": 1', 1, 8],
    ['{\n"a": 1,\n"a": 2}', 3, 1],
    ['{"a": NaN}', 1, 7],
  ])('%j is bad, and the line and column say where', (text, line, column) => {
    expect(readJson(text)).toMatchObject({ kind: 'bad', line, column });
  });

  test('what is let pass is what the service lets pass: no duplicate key, no depth beyond its limit', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    const members = fc.array(fc.tuple(fc.constantFrom('"a"', '"b"', '"\\u0061"', '"__proto__"'), fc.json()), {
      maxLength: 4,
    });
    const objects = members.map((all) => `{${all.map(([key, json]) => `${key}:${json}`).join(' ,\n')}}`);
    const depths = fc.constantFrom(1, 198, 199, 200, 201, 202, 50_000).map(nested);
    const cut = fc.tuple(objects, fc.nat(40)).map(([text, at]) => text.slice(0, at) + text.slice(at + 1));
    fc.assert(
      fc.property(fc.oneof(objects, depths, cut), (text) => {
        const scanned = scanJson(text);
        const passes = scanned.kind === 'complete' && scanned.duplicates.length === 0;
        expect(readJson(text).kind).toBe(passes ? 'ok' : 'bad');
      }),
      { numRuns: 500 },
    );
  });

  test('what is read and printed is the same JSON, whatever it was', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const compact = minified(json);
        expect(JSON.parse(compact)).toEqual(JSON.parse(json));
        expect(minified(prettyJson(read(json)))).toBe(compact);
      }),
    );
  });
});
