import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareData, operatorProblems } from '../../../src/shared/cases/judging/compare.ts';
import { sameNumber } from '../../../src/shared/cases/judging/decimal.ts';
import { parseExact } from '../../../src/shared/contract/json/exact-json.ts';
import { type ExactValue, RawNumber, stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { agrees } from './second-comparison.ts';

const differences = (expected: string, actual: string) => compareData(parseExact(expected), parseExact(actual));
const paths = (expected: string, actual: string) => differences(expected, actual).map(({ path }) => path);

describe('numbers', () => {
  it.each([
    ['120.1', '120.10'],
    ['120.1', '1.201e2'],
    ['-0', '0'],
    ['0e99999999999999999999', '0.000'],
    ['1e400', '10E+399'],
    ['1e999999999999999999999', '10e999999999999999999998'],
  ])('%s is %s', (a, b) => expect(sameNumber(a, b)).toBe(true));

  it.each([
    ['9007199254740993', '9007199254740992'],
    ['1e400', '1e401'],
    ['0.1', '0.10000000000000001'],
    ['1', '-1'],
    ['1e-400', '0'],
  ])('%s is not %s', (a, b) => expect(sameNumber(a, b)).toBe(false));
});

describe('data', () => {
  it('is a subset: only named members count, at every depth outside lists', () => {
    expect(paths('{"coupon":{"amount":20}}', '{"coupon":{"amount":20.0,"reason":"x"},"uid":7}')).toEqual([]);
  });
  it('tells null from absent', () => {
    expect(paths('{"a":null}', '{}')).toEqual(['a']);
    expect(paths('{"a":null}', '{"a":null}')).toEqual([]);
  });
  it('compares text by code point: composed and decomposed letters differ', () => {
    expect(paths('{"a":"\\u00e9"}', '{"a":"e\\u0301"}')).toEqual(['a']);
  });
  it('compares list elements whole and in order', () => {
    expect(paths('{"a":[{"b":1}]}', '{"a":[{"b":1,"c":2}]}')).toEqual(['a[0].c']);
    expect(paths('{"a":[1,2]}', '{"a":[2,1]}')).toEqual(['a[0]', 'a[1]']);
    expect(paths('{"a":[1]}', '{"a":[1,2]}')).toEqual(['a[1]']);
  });
  it('takes $any and $approx for operators only when alone in their object', () => {
    expect(paths('{"a":{"$any":true}}', '{"a":null}')).toEqual([]);
    expect(paths('{"a":{"$any":true}}', '{}')).toEqual(['a']);
    expect(paths('{"a":{"$any":true,"b":1}}', '{"a":{"b":1}}')).toEqual(['a.$any']);
    expect(paths('{"a":{"$any":false}}', '{"a":{"$any":false}}')).toEqual([]);
    expect(paths('{"a":{"$approx":20,"$by":0.01}}', '{"a":20.01}')).toEqual([]);
    expect(paths('{"a":{"$approx":20,"$by":0.01}}', '{"a":20.0100000000000001}')).toEqual(['a']);
    expect(paths('{"a":{"$approx":20,"$by":0.01}}', '{"a":"20"}')).toEqual(['a']);
    expect(paths('{"a":[{"$approx":1,"$by":1},{"$any":true}]}', '{"a":[2,null]}')).toEqual([]);
  });
  it('refuses $approx beyond 10^±400, and never expands what it is compared with', () => {
    expect(operatorProblems(parseExact('{"a":[{"$approx":1e401,"$by":1}]}'))).toEqual([
      { path: ['a', 0], fault: { problem: 'approximate-number', number: '1e401' } },
    ]);
    expect(operatorProblems(parseExact('{"$approx":1,"$by":-1}'))).toHaveLength(1);
    expect(paths('{"a":{"$approx":1,"$by":1}}', '{"a":1e999999999999}')).toEqual(['a']);
  });
  it('does not mistake names every object has for members', () => {
    expect(paths('{"constructor":{"$any":true}}', '{}')).toEqual(['constructor']);
    expect(paths('{"__proto__":{"a":1}}', '{"__proto__":{"a":1}}')).toEqual([]);
    expect(paths('{"__proto__":{"a":1}}', '{}')).toEqual(['__proto__']);
  });
  it('keeps at most 20 differences', () => {
    const many = (value: number) => `[${Array.from({ length: 100 }, () => value).join(',')}]`;
    expect(differences(`{"a":${many(1)}}`, `{"a":${many(2)}}`)).toHaveLength(20);
  });
});

const number = fc
  .tuple(
    fc.boolean(),
    fc.bigInt({ min: 0n, max: 10n ** 20n }),
    fc.integer({ min: 0, max: 30 }),
    fc.option(fc.integer({ min: -40, max: 40 })),
  )
  .map(([negative, digits, fraction, exponent]) => {
    const text = digits.toString().padStart(fraction + 1, '0');
    const point = text.length - fraction;
    const after = fraction === 0 ? '' : `.${text.slice(point)}`;
    return new RawNumber(
      `${negative ? '-' : ''}${text.slice(0, point)}${after}${exponent === null ? '' : `e${exponent}`}`,
    );
  });
const { value: anyValue } = fc.letrec<{ value: ExactValue }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    number,
    fc.constantFrom<ExactValue>(null, true, false, '', 'a', '\u00e9', 'e\u0301'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c.d', '[0]'), tie('value'), { maxKeys: 3 }),
  ),
}));

describe('against a second comparison by another algorithm', () => {
  it('agrees about any two values', () => {
    fc.assert(
      fc.property(anyValue, anyValue, (expected, actual) => {
        expect(compareData(expected, actual).length === 0).toBe(agrees(expected, actual));
      }),
      { numRuns: 2000 },
    );
  });
  it('agrees about a value and the same with one part changed', () => {
    fc.assert(
      fc.property(anyValue, fc.nat(), number, (value, at, other) => {
        const changed = withChange(value, at, other);
        expect(compareData(value, changed).length === 0).toBe(agrees(value, changed));
        expect(compareData(changed, value).length === 0).toBe(agrees(changed, value));
      }),
      { numRuns: 2000 },
    );
  });
  it('finds no difference between a value and itself, written differently', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const rewritten = parseExact(stringifyExact(value).replace(/(\d)e/g, '$1E'));
        expect(compareData(value, rewritten)).toEqual([]);
      }),
    );
  });
});

/** The value with its `at`-th leaf replaced, counted round and round. */
function withChange(value: ExactValue, at: number, other: ExactValue): ExactValue {
  if (Array.isArray(value) && value.length > 0) {
    const index = at % value.length;
    return value.map((each, position) =>
      position === index ? withChange(each, Math.floor(at / value.length), other) : each,
    );
  }
  if (typeof value === 'object' && value !== null && !(value instanceof RawNumber) && !Array.isArray(value)) {
    const entries = Object.entries(value);
    const index = at % Math.max(1, entries.length);
    return Object.fromEntries(
      entries.map(([key, each], position) => [key, position === index ? withChange(each, at, other) : each]),
    );
  }
  return other;
}
