import { describe, expect, test } from 'vitest';
import { type Inputs, readInputs } from '../../src/console/cases/inputs.ts';

const fields = [
  { key: 'uid', valueType: 'Long', nodeId: '1', nodeName: '' },
  { key: 'cost', valueType: 'Double', nodeId: '2', nodeName: '' },
  { key: 'vip.level', valueType: 'Integer', nodeId: '3', nodeName: '' },
];

function inputsOf(text: string): Inputs {
  const read = readInputs(text, fields, 'UTC');
  if (read.kind !== 'inputs') throw new Error(`${text} gives ${JSON.stringify(read)}`);
  return read.inputs;
}

describe('many inputs as CSV', () => {
  test('have the types that the rule reads, and say which columns it does not', () => {
    const { columns, rows, count, format } = inputsOf(
      'name,uid,cost,note\r\nfirst,9007199254740993,120.10,"a,b"\r\n\r\n',
    );
    expect(format).toBe('csv');
    expect(columns).toEqual([
      { name: 'name', type: 'name', read: false },
      { name: 'uid', type: 'number', read: true },
      { name: 'cost', type: 'number', read: true },
      { name: 'note', type: 'text', read: false },
    ]);
    expect(rows).toEqual([['first', '9007199254740993', '120.10', 'a,b']]);
    expect(count).toBe(1);
  });

  test('are the rows that run, in the table as in the count: neither rows of empty cells nor such with mistakes', () => {
    const { rows, count } = inputsOf('uid,cost\n1,2\n,\n3,4\nx,5\n,6\n,\n');
    expect(rows).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['', '6'],
    ]);
    expect(count).toBe(3);
  });

  test('are counted without their line breaks in quotes, whatever separates them', () => {
    expect(inputsOf('\ufeffuid;note\n1;"two\n\nlines"\n2;x').count).toBe(2);
    expect(inputsOf('uid\tnote\n1\tx\n2\ty\n3\tz\n').columns).toHaveLength(2);
  });

  test('are sent as they were written', () => {
    const text = 'uid\n9007199254740993\n';
    expect(inputsOf(text).body).toBe(text);
  });

  test('without a row are none, and what is not CSV says why', () => {
    expect(readInputs('uid,cost\n', fields, 'UTC')).toEqual({ kind: 'empty' });
    expect(readInputs('  \n', fields, 'UTC')).toEqual({ kind: 'empty' });
    expect(readInputs('uid,note\n1,"open', fields, 'UTC')).toMatchObject({ kind: 'mistakes' });
  });

  test('with mistakes name each with its line, and count the rows that can be run', () => {
    const { count, setAside } = inputsOf(
      'uid,cost,asOf\n1,$120,\n2,"12,5",\n\n3,1.50,next friday\n4,2,2026-03-15 12:00\n5,9,5,\n',
    );
    expect(count).toBe(1);
    expect(setAside.cases).toBe(4);
    expect(setAside.errors.map(({ field, params }) => [field, params.line])).toEqual([
      ['cost', 2],
      ['cost', 3],
      ['asOf', 5],
      ['body', 7],
    ]);
  });

  test('with a header that has an empty or a second name are refused, and each is named', () => {
    expect(readInputs('uid,,uid\n1,2,3\n', fields, 'UTC')).toEqual({
      kind: 'mistakes',
      refusals: [
        { field: 'header', code: 'column-nameless', params: { column: 2, line: 1 } },
        { field: 'header', code: 'column-twice', params: { name: '"uid"', first: 1, column: 3, line: 1 } },
      ],
    });
  });
});

describe('many inputs as JSON', () => {
  test('keep every digit, and have a column for each key', () => {
    const { columns, rows, body, count } = inputsOf('[{"uid": 9007199254740993, "vip": {"level": 2}}, {"uid": "x"}]');
    expect(columns).toEqual([
      { name: 'uid', type: 'mixed', read: true },
      { name: 'vip', type: 'object', read: true },
    ]);
    expect(rows).toEqual([
      ['9007199254740993', '{"level":2}'],
      ['"x"', ''],
    ]);
    expect(body).toBe('[{"the service":{"uid":9007199254740993,"vip":{"level":2}}},{"the service":{"uid":"x"}}]');
    expect(count).toBe(2);
  });

  test('may be cases, as a file has them or as a call does', () => {
    const { body, columns } = inputsOf(
      '{"app": 1, "cases": [{"name": "n", "input": {"cost": 1.10}, "asOf": "2026-03-15T12:00:00+08:00", "expect": {"outcome": "TRUE"}}]}',
    );
    expect(columns.map(({ name }) => name)).toEqual(['cost']);
    expect(body).toBe('[{"name":"n","ts":1773547200000,"expect":{"outcome":"TRUE"},"the service":{"cost":1.10}}]');
  });

  test('an input that has a member called input is one', () => {
    expect(inputsOf('[{"input": {"a": 1}, "uid": 2}]').body).toBe('[{"the service":{"input":{"a":1},"uid":2}}]');
  });

  test('with mistakes name each with its line, and count the cases that can be run', () => {
    const { count, body, setAside } = inputsOf(
      '[\n{"input": {"uid": 1}, "asOf": "next friday"},\n{"uid": 2},\n7,\n{"input": {}, "expect":\n{"outcome": "YES"}}]',
    );
    // The service leaves out the same ones, and tells of them with the batch.
    expect(count).toBe(1);
    expect(JSON.parse(body)).toHaveLength(4);
    expect(setAside.cases).toBe(3);
    expect(setAside.errors.map(({ field, params }) => [field, params.line])).toEqual([
      ['[0].asOf', 2],
      ['[2]', 4],
      ['[3].expect.outcome', 6],
    ]);
    expect(readInputs('[1]', fields, 'UTC')).toMatchObject({
      kind: 'mistakes',
      refusals: [{ field: '[0]', params: { line: 1 } }],
    });
  });

  test('that cannot be used say where', () => {
    expect(readInputs('{"a": 1}', fields, 'UTC')).toEqual({ kind: 'no-list' });
    expect(readInputs('[\n{"a": }]', fields, 'UTC')).toMatchObject({ kind: 'not-json', line: 2 });
    expect(readInputs('[]', fields, 'UTC')).toEqual({ kind: 'empty' });
  });
});
