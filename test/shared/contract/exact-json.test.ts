import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  joinMembers,
  parseExact,
  type Scanned,
  scanJson,
  toAscii,
} from '../../../src/shared/contract/json/exact-json.ts';
import { MAX_DEPTH } from '../../../src/shared/contract/json/json-scan.ts';
import { integerOf, RawNumber, stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { decodeUtf8, decodeWhole } from '../../../src/shared/contract/json/utf8.ts';
import { textFaultOf } from '../../../src/shared/reasons/text-faults.ts';
import { cpuMsOf } from '../../support/cpu-ms.ts';

const objectText = fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()).map((value) => JSON.stringify(value));
/** Text that is JSON now and then and nearly JSON most of the time. */
const almostJson = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'{}[]",:0123456789.-+eEtruefalsn\\u/ \n\t\u0001é') }),
  fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', '0', '-', '\\', ' ', '\u0000'))
    .map(([text, at, char]) => {
      const place = at % (text.length + 1);
      return text.slice(0, place) + char + text.slice(place + 1);
    }),
);

describe('scanning JSON', () => {
  it('any JSON text is complete', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(scanJson(text)).toMatchObject({ kind: 'complete', duplicates: [] });
      }),
    );
  });

  it('members put back together are the same values in the same order', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const { members } = complete(scanJson(text));
        expect(joinMembers(members.map(({ key, raw }) => [key, raw]))).toBe(text);
      }),
    );
  });

  it('no beginning of an object is wrong: it is incomplete until its last character', () => {
    fc.assert(
      fc.property(objectText, fc.nat(), (text, cut) => {
        expect(scanJson(text.slice(0, cut % text.length))).toMatchObject({ kind: 'incomplete' });
      }),
    );
  });

  it('accepts exactly what JSON.parse accepts', () => {
    fc.assert(
      fc.property(almostJson, (text) => {
        expect(scanJson(text).kind === 'complete').toBe(isJson(text));
      }),
      { numRuns: 2000 },
    );
  });

  it('what it calls incomplete can be completed, what it calls wrong cannot', () => {
    const endings = ['', '}', ']', '"', '"}', 'null', '1', 'rue', '\\"', '0000"', ':1}', '"":1}', '"}}', ']}', '1]'];
    fc.assert(
      fc.property(almostJson, (text) => {
        if (scanJson(text).kind === 'wrong') expect(endings.filter((ending) => isJson(text + ending))).toEqual([]);
      }),
      { numRuns: 2000 },
    );
  });

  it('gives each member as it was written', () => {
    const { members } = complete(scanJson(' {"a" : 1.0 ,"b":[ 1 ],\n"c\\u0041":{"x":-0},"d":null,"e":false} '));
    expect(members).toEqual([
      { key: 'a', kind: 'number', raw: '1.0' },
      { key: 'b', kind: 'array', raw: '[ 1 ]' },
      { key: 'cA', kind: 'object', raw: '{"x":-0}' },
      { key: 'd', kind: 'null', raw: 'null' },
      { key: 'e', kind: 'boolean', raw: 'false' },
    ]);
  });

  it('a key is a duplicate however it is spelled, at any depth', () => {
    const { duplicates } = complete(scanJson('{"a":1,"\\u0061":2,"b":[0,{"c":{"d":1,"d":2}}],"e":{"a":1}}'));
    expect(duplicates).toEqual(['a', 'b[1].c.d']);
  });

  it('names a duplicate in at most 200 characters, whatever its keys and its depth', () => {
    const huge = 'k'.repeat(1_000_000);
    const twice = Array.from({ length: 20 }, (_, at) => `"${at}":1,"${at}":1`).join();
    const deep = `${'{"abcdefghij":'.repeat(50)}{"a":1,"a":2}${'}'.repeat(50)}`;
    const { duplicates } = complete(scanJson(`{"${huge}":{${twice}},"deep":${deep}}`));
    expect(duplicates).toHaveLength(20);
    expect(duplicates[0]).toBe(`${'k'.repeat(59)}….0`);
    for (const path of complete(scanJson(`{"deep":${deep}}`)).duplicates) expect(path.length).toBeLessThanOrEqual(200);
  });

  it('names at most twenty duplicates', () => {
    expect(complete(scanJson(`{"a":1${',"a":1'.repeat(100)}}`)).duplicates).toHaveLength(20);
  });

  it.each([
    ['{"a":[1,{"b":tru}]}', { at: 13, path: 'a[1].b', message: 'unexpected tru' }],
    ['{"a":01}', { at: 6, path: '', message: 'expected ",", found 1' }],
    ['{"a":1.}', { at: 7, path: 'a', message: 'the number 1. must go on with a digit, found "}"' }],
    ['{"a":.5}', { at: 5, path: 'a', message: 'unexpected "."' }],
    ['{"a":+1}', { at: 5, path: 'a', message: 'unexpected "+"' }],
    ['{"a":NaN}', { at: 5, path: 'a', message: 'NaN is not a JSON value' }],
    ['{"a":-Infinity}', { at: 5, path: 'a', message: '-Infinity is not a JSON value' }],
    ["{'a':1}", { at: 1, path: '', message: `expected a key in double quotes, found "'"` }],
    ['{"a":1,}', { at: 7, path: '', message: 'expected a key in double quotes, found "}"' }],
    ['{"a":"\\x"}', { at: 6, path: 'a', message: '\\x is not an escape JSON knows' }],
    ['{"a":"\\u12g4"}', { at: 6, path: 'a', message: '\\u must be followed by four hexadecimal digits' }],
    ['{"a":"\n"}', { at: 6, path: 'a', message: 'a control character in a string must be escaped' }],
    ['{} {}', { at: 3, path: '', message: 'unexpected "{" after the end of the JSON value' }],
  ])('says where %s is wrong', (text, { at, message, path }) => {
    const told = `is not JSON: ${message} at character ${at + 1}`;
    const scanned = scanJson(text);
    expect(scanned).toMatchObject({ kind: 'wrong', at, path });
    expect(scanned.kind !== 'complete' && textFaultOf(scanned.whole)).toBe(told);
  });

  it(`goes ${MAX_DEPTH} levels deep and no further`, () => {
    const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
    expect(scanJson(nested(MAX_DEPTH)).kind).toBe('complete');
    expect(scanJson(nested(MAX_DEPTH + 1))).toMatchObject({
      kind: 'wrong',
      fault: { problem: 'json-deep', levels: MAX_DEPTH },
    });
    expect(scanJson('{"a":'.repeat(1_000_000))).toMatchObject({ kind: 'wrong' });
  });
});

describe('parsing and printing', () => {
  it('what is printed is what was parsed', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(stringifyExact(parseExact(text))).toBe(JSON.stringify(JSON.parse(text)));
      }),
    );
  });

  it('numbers leave as they came', () => {
    const text = '[9007199254740993,1e400,0.10,-0,1.0,1E+5]';
    expect(stringifyExact(parseExact(text))).toBe(text);
  });

  it('no key reaches a prototype', () => {
    const value = parseExact('{"__proto__":{"polluted":1},"constructor":2}');
    expect(Object.keys(value ?? {})).toEqual(['__proto__', 'constructor']);
    expect('polluted' in {}).toBe(false);
  });

  it('a raw number is never printed by accident', () => {
    expect(() => JSON.stringify({ a: new RawNumber('1') })).toThrow('must be printed with stringifyExact');
  });

  it('a bad text throws and says where', () => {
    expect(() => parseExact('{"a":[1,x]}')).toThrow('unexpected x at character 9 in a[1]');
    expect(() => parseExact('{"a":')).toThrow('it ends too early, after 5 characters');
  });

  it('as ASCII it is the same JSON', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        expect(toAscii(text)).toMatch(/^[\x20-\x7e]*$/);
        expect(JSON.parse(toAscii(text))).toEqual(JSON.parse(text));
      }),
    );
  });
});

describe('integers', () => {
  it('any spelling of an integer is that integer', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), fc.nat(12), (integer, zeros) => {
        const digits = `${integer}`;
        const spellings = [
          digits,
          `${digits}.0`,
          `${digits}.${'0'.repeat(zeros + 1)}`,
          `${digits}e0`,
          `${digits}.0E+0`,
        ];
        const shifted = `${digits}${'0'.repeat(zeros)}e-${zeros}`;
        for (const spelling of [...spellings, shifted]) expect(integerOf(spelling)).toBe(integer);
        expect(integerOf(`${digits}e${zeros}`)).toBe(integer * 10n ** BigInt(zeros));
      }),
    );
  });

  it.each([
    ['1.50e1', 15n],
    ['-0', 0n],
    ['0e999999999999', 0n],
    ['0.000', 0n],
    ['0.05e2', 5n],
    ['1e39', 10n ** 39n],
  ])('%s is an integer', (raw, integer) => {
    expect(integerOf(raw)).toBe(integer);
  });

  it.each(['1.5', '0.1', '15e-1', '1e-1', '1e40', '1e999999999999999999999999', '-1e-999999999999', '1.05e1'])(
    '%s is none that can be used',
    (raw) => {
      expect(integerOf(raw)).toBeUndefined();
    },
  );

  it('a number of a mebibyte is judged at once', () => {
    const zeros = '0'.repeat(1024 * 1024);
    const judge = () => [`1${zeros}1`, `1.${zeros}1`, `1${zeros}e-${zeros.length}`].map(integerOf);
    expect(cpuMsOf(() => expect(judge()).toEqual([undefined, undefined, 1n]))).toBeLessThan(1000);
  });
});

describe('UTF-8', () => {
  const text = fc.string({ unit: 'grapheme' }).filter((value) => !value.startsWith('\ufeff'));

  it('is read as it is', () => {
    fc.assert(
      fc.property(text, (value) => {
        expect(decodeUtf8(Buffer.from(value))).toEqual({ kind: 'text', text: value });
      }),
    );
  });

  it('no beginning of it is wrong: at most its last character is cut', () => {
    fc.assert(
      fc.property(text, fc.nat(), (value, cut) => {
        const bytes = Buffer.from(value);
        const decoded = decodeUtf8(bytes.subarray(0, cut % (bytes.length + 1)));
        expect(decoded.kind).not.toBe('wrong');
        expect(decoded.kind !== 'wrong' && value.startsWith(decoded.text)).toBe(true);
      }),
    );
  });

  it.each([
    ['a stray continuation byte', [0x61, 0x80]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['beyond the last character', [0xf4, 0x90, 0x80, 0x80]],
    ['a cut character in the middle', [0xc3, 0x61]],
  ])('%s is wrong, never repaired', (_what, bytes) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toMatchObject({ kind: 'wrong', fault: { line: 1 } });
  });

  it('the first byte that is none of it is named, also behind a U+FFFD of the text, or at the end', () => {
    const wrong = (text: string) => decodeWhole(Buffer.from(text, 'latin1'));
    const replacement = '\xef\xbf\xbd';
    expect(wrong(`a\n${replacement}b\n${replacement}K\xf6ln \xff`)).toEqual({
      kind: 'wrong',
      fault: { problem: 'not-utf-8', line: 3, byte: 5, value: '0xf6' },
    });
    expect(wrong('ab\xc3')).toMatchObject({ fault: { line: 1, byte: 3 } });
    expect(wrong(replacement)).toEqual({ kind: 'text', text: '\ufffd' });
  });

  it('a byte order mark is refused at the start and a character elsewhere', () => {
    expect(decodeUtf8(Buffer.from('\ufeff{}'))).toMatchObject({
      kind: 'wrong',
      fault: { problem: 'byte-order-mark' },
    });
    expect(decodeUtf8(Buffer.from('{"\ufeff":1}'))).toEqual({ kind: 'text', text: '{"\ufeff":1}' });
  });
});

function complete(scanned: Scanned): Extract<Scanned, { kind: 'complete' }> {
  if (scanned.kind !== 'complete') throw new Error(`not complete: ${JSON.stringify(scanned)}`);
  return scanned;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
