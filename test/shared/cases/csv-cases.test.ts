import { describe, expect, it } from 'vitest';
import type { CellType } from '../../../src/shared/cases/csv/cell-type.ts';
import { readCsv } from '../../../src/shared/cases/csv/csv-cases.ts';
import { problemText } from '../../../src/shared/reasons/problems.ts';
import { cpuMsOf } from '../../support/cpu-ms.ts';

const types = new Map<string, CellType>([
  ['uid', 'integer'],
  ['cost', 'number'],
  ['user.age', 'number'],
  ['vip', 'boolean'],
]);
const read = (text: string) => readCsv(text, { typeOf: (key) => types.get(key) ?? 'text' });
const inputs = (text: string) => {
  const found = read(text);
  return found.kind === 'cases'
    ? found.cases.map(({ input }) => input)
    : found.refusals.map((each) => `${each.field} ${problemText(each)}`);
};

describe('CSV', () => {
  it('has input paths for columns, and types from the schema', () => {
    const found = read('name,uid,user.age,vip,city,asOf\na,9007199254740993,1.50,TRUE,007,2026-03-15T12:00:00Z\n');
    expect(found).toMatchObject({
      kind: 'cases',
      cases: [
        {
          name: 'a',
          input: '{"uid":9007199254740993,"user":{"age":1.50},"vip":true,"city":"007"}',
          ts: String(Date.parse('2026-03-15T12:00:00Z')),
          tags: [],
          skip: false,
          line: 2,
          expect: null,
        },
      ],
      setAside: { cases: 0, errors: [] },
    });
  });
  it('takes only whole numbers for a whole number: 1.000 may be a thousand', () => {
    for (const cell of ['1.5', '1.0', '1.000', '"1,000"', '1 000', '+5', '007', '9.0072E+15', '1e2'])
      expect(inputs(`uid\n${cell}\n`)).toEqual([expect.stringMatching(/^uid must be a whole number/)]);
    expect(inputs('cost\n1.000\n')).toEqual(['{"cost":1.000}']);
  });
  it('refuses a column that another would overwrite, however its path is written', () => {
    for (const header of ['a,a.b', 'a.b,a', 'a.b.c,a.b', 'a.b,"a[""b""]"', '"a[""b""].c",a.b'])
      expect(read(`${header}\n1,2\n`)).toMatchObject({
        kind: 'refused',
        refusals: [{ field: 'header', params: { line: 1 } }],
      });
    expect(inputs('a.b,a.c,ab,name,"[""name""]"\n1,2,3,4,5\n')).toEqual([
      '{"a":{"b":"1","c":"2"},"ab":"3","name":"5"}',
    ]);
  });
  it('refuses a header with a character that is not seen', () => {
    expect(inputs('uid\u200b\n1\n')).toEqual([
      'header contains a character that cannot be seen: "uid\\u200b" (column 1, line 1)',
    ]);
  });
  it('leaves out rows of cells that look empty', () => {
    expect(inputs('city;uid\nx;1\n ; \n" ";\n"";\n')).toEqual(['{"city":"x","uid":1}', '{"city":""}']);
  });
  it('takes a day or a number of a spreadsheet for no time of 1970', () => {
    expect(inputs('asOf\n46096\n')).toEqual([expect.stringMatching(/^asOf is not a time/)]);
    expect(inputs('asOf\n2026\n')).toEqual([expect.stringMatching(/^asOf is not a time/)]);
    expect(inputs('asOf\n20260315\n')).toEqual([expect.stringMatching(/^asOf is not a time with an offset/)]);
  });
  it('sets rows with mistakes aside where that is asked for, with the lines that they begin in', () => {
    const text = 'uid,city,vip\n1,"two\nlines",true\nx,b,true\n\n3,"a\r\nb",maybe\n4,d,false\n';
    const found = readCsv(text, { typeOf: (key) => types.get(key) ?? 'text', skipInvalid: true });
    expect(found).toMatchObject({
      cases: [
        { name: 'row 1', line: 2 },
        { name: 'row 4', line: 8 },
      ],
      setAside: {
        cases: 2,
        errors: [
          {
            ...{ field: 'uid', code: 'invalid-type' },
            params: { expected: 'whole-number', found: '"x"', row: 2, column: 1, line: 4 },
          },
          { field: 'vip', params: { expected: 'boolean', found: '"maybe"', row: 3, column: 3, line: 6 } },
        ],
      },
    });
  });
  it('refuses all rows if each has a mistake, and keeps a hundred mistakes', () => {
    const text = `uid\n${'x\n'.repeat(250)}`;
    const found = readCsv(text, { typeOf: () => 'number', skipInvalid: true });
    expect(found.kind === 'refused' && found.refusals.length).toBe(100);
    const others = readCsv(`${text}1\n`, { typeOf: () => 'number', skipInvalid: true });
    expect(others.kind === 'cases' && [others.cases.length, others.setAside.cases]).toEqual([1, 250]);
  });
  it('reads a time without an offset in the zone that is named', () => {
    const text = 'asOf\n2026-03-15 12:00\n2026-03-15T12:00:00+08:00\n1700000000000\n';
    const found = readCsv(text, { typeOf: () => 'text', timeZone: 'Europe/Berlin' });
    expect(found.kind === 'cases' && found.cases.map(({ ts }) => ts)).toEqual([
      String(Date.parse('2026-03-15T12:00:00+01:00')),
      String(Date.parse('2026-03-15T12:00:00+08:00')),
      '1700000000000',
    ]);
  });
  it.each([',', ';', '\t'])('is separated by %j', (delimiter) =>
    expect(inputs(`uid${delimiter}city\n1${delimiter}"a,b;c\td"\n`)).toEqual(['{"uid":1,"city":"a,b;c\\td"}']),
  );
  it('tells an empty cell from an empty text', () =>
    expect(inputs('uid,city\n1,\n2,""\n')).toEqual(['{"uid":1}', '{"uid":2,"city":""}']));
  it('may begin with a byte order mark and end its lines either way', () =>
    expect(inputs('\ufeffuid\r\n1\r\n2')).toEqual(['{"uid":1}', '{"uid":2}']));
  it('takes any name for a member', () =>
    expect(inputs('__proto__.a,"[""c.d""]"\nx,y\n')).toEqual(['{"__proto__":{"a":"x"},"c.d":"y"}']));
  it('takes no row of empty cells and no empty column for an input, as spreadsheets leave them', () => {
    expect(inputs('uid,city,,\n1,a,,\n,,,\n2,"",,\n,,,\n')).toEqual(['{"uid":1,"city":"a"}', '{"uid":2,"city":""}']);
    expect(inputs('uid,city\n,\n').join()).toContain('has a header but no rows');
    expect(inputs('uid,\n1,x\n').join()).toContain('name the input path of each column');
  });
  it('refuses an id that a spreadsheet has cut, and takes the same for a fraction', () => {
    expect(inputs('uid\n9.0072E+15\n').join()).toContain('a spreadsheet such as Excel shortened it');
    expect(inputs('cost\n9.0072E+15\n')).toEqual(['{"cost":9.0072E+15}']);
  });
  it('does not guess a time that occurs twice or never in its zone', () => {
    const found = readCsv('asOf\n2026-10-25 02:30\n2026-03-29 02:30\n2026-10-25 02:30+01:00\n', {
      typeOf: () => 'text',
      timeZone: 'Europe/Berlin',
    });
    expect(found.kind === 'refused' && found.refusals.map((each) => [each.params.line, problemText(each)])).toEqual([
      [2, expect.stringMatching(/^occurs twice in Europe\/Berlin.*: give an offset/)],
      [3, expect.stringMatching(/^does not occur in Europe\/Berlin.*: give an offset/)],
    ]);
  });
  it.each([
    ['uid\n012\n', 'uid must be a whole number, found "012"'],
    ['vip\nyes\n', 'vip must be true or false, found "yes"'],
    ['uid,uid\n1,1\n', 'gives "uid" twice'],
    ['a[0]\n1\n', 'is not an input path'],
    ['uid,city\n1\n', 'must have one cell for each of the 2 columns, found 1'],
    ['uid\n"1\n', 'is not CSV'],
    ['uid\n', 'has a header but no rows'],
    ['', 'is empty'],
    ['asOf\nyesterday\n', 'is not a time such as'],
    ['asOf\n1774310400\n', 'is in seconds: give milliseconds'],
    ['asOf\n2026-03-15T12:00\n', 'is not a time with an offset'],
  ])('%j is refused', (text, message) => expect(inputs(text).join()).toContain(message));
  it('of 5,000 columns is refused at once', () => {
    const header = Array.from({ length: 5000 }, (_, index) => `c${index}`).join(',');
    const read = () => inputs(`${header}\n${header}\n`.repeat(20));
    expect(cpuMsOf(() => expect(read()).toEqual(['header has more than 1000 columns']))).toBeLessThan(5000);
  });
});
