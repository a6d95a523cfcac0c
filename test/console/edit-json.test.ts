import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { removeAt, setAt } from '../../src/console/json/edit-json.ts';
import { compactJson } from '../../src/shared/json-tree/print-json.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';
import { valueAt } from '../../src/shared/json-tree/value-at.ts';

describe('editing one value of a document', () => {
  const document = '{\n  "uid": 9007199254740993,\n  "cost": 0.10,\n  "vip": { "level": 2 }\n}';

  test('everything else stays to the character', () => {
    expect(setAt(document, ['cost'], '1e400')).toBe(document.replace('0.10', '1e400'));
    expect(setAt(document, ['vip', 'level'], '3')).toBe(document.replace('2 }', '3 }'));
  });

  test('a new key is set as the others are', () => {
    expect(setAt(document, ['city'], '"Lyon"')).toBe(
      document.replace('{ "level": 2 }', '{ "level": 2 },\n  "city": "Lyon"'),
    );
    expect(setAt('{"a":1}', ['b'], '2')).toBe('{"a":1, "b": 2}');
    expect(setAt('{}', ['a'], '1')).toBe('{\n  "a": 1\n}');
  });

  test('objects that are missing on the way are made', () => {
    expect(setAt('{"a":1}', ['vip', 'card', 'no'], '7')).toBe('{"a":1, "vip": {"card": {"no": 7}}}');
  });

  test('nothing is overwritten that is no object on the way', () => {
    expect(setAt('{"vip":5}', ['vip', 'level'], '1')).toBe('{"vip":5}');
  });

  test('an item of a list can be set, none can be added', () => {
    expect(setAt('{"a":[1,2]}', ['a', '1'], '3')).toBe('{"a":[1,3]}');
    expect(setAt('{"a":[1,2]}', ['a', '5'], '3')).toBe('{"a":[1,2]}');
  });

  test('removing takes the comma along, and objects that would be left empty', () => {
    expect(removeAt('{"a":1, "b":2, "c":3}', ['a'])).toBe('{"b":2, "c":3}');
    expect(removeAt('{"a":1, "b":2, "c":3}', ['b'])).toBe('{"a":1, "c":3}');
    expect(removeAt('{"a":1, "b":2, "c":3}', ['c'])).toBe('{"a":1, "b":2}');
    expect(removeAt('{"a":1, "vip":{"level":2}}', ['vip', 'level'])).toBe('{"a":1}');
    expect(removeAt('{"a":1}', ['a'])).toBe('{}');
  });

  test('a text that is no JSON is left alone', () => {
    expect(setAt('{"a":', ['a'], '1')).toBe('{"a":');
    expect(removeAt('{"a":', ['a'])).toBe('{"a":');
  });

  test('what was set is there, and removing it gives the document back', () => {
    const key = fc.string({ minLength: 1 }).filter((name) => name !== 'uid');
    fc.assert(
      fc.property(key, fc.integer(), (name, value) => {
        const set = setAt('{"uid": 1.0}', [name], String(value));
        const read = readJson(set);
        if (read.kind === 'bad') throw new Error(read.fault.problem);
        const found = valueAt(read.root, [name]);
        expect(found && compactJson(found)).toBe(String(value));
        expect(removeAt(set, [name])).toBe('{"uid": 1.0}');
      }),
    );
  });
});
