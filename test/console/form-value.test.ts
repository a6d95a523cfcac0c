import { describe, expect, test } from 'vitest';
import { convert, kindOf, kindOfType, readTyped, typedText } from '../../src/console/json/form-value.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';

const parsed = (text: string) => {
  const read = readJson(text);
  if (read.kind === 'bad') throw new Error(read.fault.problem);
  return read.root;
};
const raw = (text: string) => ({ kind: 'raw', raw: text });

describe('what is typed into a row of the form', () => {
  test.each([
    ['9007199254740993', '9007199254740993'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['9223372036854775807', '9223372036854775807'],
    [' +007 ', '7'],
    ['-0', '0'],
  ])('int64 %j is %s to the last digit', (typed, expected) => {
    expect(readTyped('int64', typed)).toEqual(raw(expected));
  });

  test.each([
    ['9223372036854775808', 'beyond-int64'],
    ['-9223372036854775809', 'beyond-int64'],
    ['1.5', 'not-whole'],
    ['12a', 'not-whole'],
    ['-', 'not-whole'],
  ])('int64 %j is refused: %s', (typed, problem) => {
    expect(readTyped('int64', typed)).toEqual({ kind: 'bad', problem });
  });

  test('a decimal keeps its digits as they were typed', () => {
    expect(readTyped('decimal', '0.10')).toEqual(raw('0.10'));
    expect(readTyped('decimal', '1e400')).toEqual(raw('1e400'));
    expect(readTyped('decimal', '.5')).toEqual(raw('0.5'));
    expect(readTyped('decimal', '007.50')).toEqual(raw('7.50'));
    expect(readTyped('decimal', '1.')).toEqual({ kind: 'bad', problem: 'not-decimal' });
    expect(readTyped('decimal', '1,5')).toEqual({ kind: 'bad', problem: 'not-decimal' });
  });

  test('empty, null and not sent are three things', () => {
    expect(readTyped('text', '')).toEqual(raw('""'));
    expect(readTyped('null', '')).toEqual(raw('null'));
    expect(readTyped('int64', ' ')).toEqual({ kind: 'empty' });
  });

  test('auto takes JSON for JSON and everything else for a text', () => {
    expect(readTyped('auto', '12')).toEqual(raw('12'));
    expect(readTyped('auto', 'true')).toEqual(raw('true'));
    expect(readTyped('auto', '[1, 2]')).toEqual(raw('[1, 2]'));
    expect(readTyped('auto', 'Lyon')).toEqual(raw('"Lyon"'));
    expect(readTyped('auto', '"12"')).toEqual(raw('"12"'));
  });

  test.each(['12', '"12"', '"Lyon"', 'true', '"true"', 'null', '[1,2]', '0.10', '""', '" "', '"null"'])(
    'auto shows %s so that it is read back as it was',
    (text) => {
      const shown = typedText('auto', parsed(text), text);
      const back = shown === undefined || shown === '' ? undefined : readTyped('auto', shown);
      expect(back).toEqual(raw(text));
    },
  );

  test('a kind shows a value only when it can hold it', () => {
    expect(typedText('int64', parsed('1.5'), '1.5')).toBeUndefined();
    expect(typedText('text', parsed('1'), '1')).toBeUndefined();
    expect(typedText('decimal', parsed('1.50'), '1.50')).toBe('1.50');
  });

  test('the kind of a value is the narrowest that holds it, that of a key what is declared', () => {
    expect(['1', '1.0', '"a"', 'true', 'null', '{}'].map((text) => kindOf(parsed(text)))).toEqual([
      'int64',
      'decimal',
      'text',
      'yes-no',
      'null',
      'json',
    ]);
    expect(['Long', 'Double', 'String', 'Boolean', 'Map', 'Object', 'whatever'].map(kindOfType)).toEqual([
      'int64',
      'decimal',
      'text',
      'yes-no',
      'json',
      'auto',
      'auto',
    ]);
  });

  test('a value is carried over to another kind where that makes sense', () => {
    expect(convert(parsed('"5"'), '"5"', 'int64')).toEqual(raw('5'));
    expect(convert(parsed('5'), '5', 'text')).toEqual(raw('"5"'));
    expect(convert(parsed('9007199254740993'), '9007199254740993', 'decimal')).toEqual(raw('9007199254740993'));
    expect(convert(parsed('"x"'), '"x"', 'int64').kind).toBe('bad');
  });
});
