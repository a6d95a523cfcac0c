import { describe, expect, test } from 'vitest';
import { readExecution } from '../../src/console/api/executions.ts';
import { caseText, expectedParts, expectedRows, partsOfRun } from '../../src/console/cases/proposal.ts';
import { type Reading, readRun } from '../../src/console/run/reading.ts';
import { conclusionOf } from '../../src/shared/conclusions/conclusion.ts';
import { judge } from '../../src/shared/conclusions/judge.ts';
import { toldExecution } from '../support/told-execution.ts';

function readingOf(input: string, result: string): Reading {
  return readRun(readExecution(toldExecution({ input, result })), []);
}
const run = readingOf(
  '{"uid":9007199254740993,"gone":1,"same":1.0,"a.b":0}',
  '{"success":true,"the service":{"uid":9007199254740995,"same":1,"coupon":{"amount":20.10}},"process":"[1:X:T:1]","error":null}',
);
const saved = {
  name: 'n',
  input: '{}',
  ts: null,
  tags: ['release'],
  skip: true,
  expect:
    '{"data":{"coupon":{"amount":1}},"nodes":{"7":"TRUE","4":"NOT_REACHED"},"withinMs":500,"absent":["coupon","x[0]"]}',
};

describe('what can be expected of the next run', () => {
  test('is the result and every key that this one changed, to the last digit', () => {
    expect(partsOfRun(run)).toEqual([
      { kind: 'outcome', value: 'TRUE' },
      { kind: 'data', key: 'uid', value: '9007199254740995' },
      { kind: 'data', key: 'coupon', value: '{"amount":20.10}' },
      { kind: 'absent', key: 'gone' },
      { kind: 'absent', key: 'a.b' },
    ]);
  });

  test('is the error where the rule failed', () => {
    const failed = readingOf('{}', '{"success":false,"the service":{},"process":"","error":"no \\"card\\""}');
    expect(partsOfRun(failed)).toEqual([
      { kind: 'outcome', value: 'ERROR' },
      { kind: 'error', value: '"no \\"card\\""' },
    ]);
  });

  test('is written as documents have it; paths are quoted where they must be', () => {
    const text = caseText({
      name: 'a "b"',
      input: '{"uid":9007199254740993}',
      ts: '1795',
      parts: partsOfRun(run),
      saved: null,
    });
    expect(text).toBe(
      '{"name":"a \\"b\\"","input":{"uid":9007199254740993},"asOf":1795,"expect":{"outcome":"TRUE",' +
        '"data":{"uid":9007199254740995,"coupon":{"amount":20.10}},"absent":["gone","[\\"a.b\\"]"]}}',
    );
  });

  test('of a saved case changes only what it expects already; the rest of it stays', () => {
    const parts = expectedParts(partsOfRun(run), saved);
    expect(parts).toEqual([{ kind: 'data', key: 'coupon', value: '{"amount":20.10}' }]);
    const text = caseText({ name: 'n', input: '{}', ts: null, parts, saved });
    expect(text).toBe(
      '{"name":"n","input":{},"tags":["release"],"skip":true,"expect":{"data":{"coupon":{"amount":20.10}},' +
        '"absent":["x[0]"],"nodes":{"7":"TRUE","4":"NOT_REACHED"},"withinMs":500}}',
    );
  });
});

test('what was expected stands beside what came: the differences first, what they are about not again', () => {
  const difference = { path: 'data.coupon.amount', expected: '1', actual: '20', how: 'differs' } as const;
  expect(expectedRows({ expect: saved.expect, differences: [difference], ignore: [] })).toEqual([
    { ...difference, ignored: [] },
    { path: 'withinMs', expected: '500', actual: '500', how: null, ignored: [] },
    { path: 'data.x[0]', expected: null, actual: null, how: null, ignored: [] },
    { path: 'nodes.7', expected: 'TRUE', actual: 'TRUE', how: null, ignored: [] },
    { path: 'nodes.4', expected: 'NOT_REACHED', actual: 'NOT_REACHED', how: null, ignored: [] },
  ]);
});

test('what a batch does not compare is named at what holds otherwise', () => {
  const expectation = '{"data":{"coupon":{"id":1,"amount":2},"items":[1]}}';
  const rows = expectedRows({ expect: expectation, differences: [], ignore: ['coupon.id', 'item', 'items[*].at'] });
  expect(rows.map(({ path, ignored }) => [path, ignored])).toEqual([
    ['data.coupon', ['data.coupon.id']],
    ['data.items', ['data.items[*].at']],
  ]);
});

test('keys that are quoted in paths have one row, which tells what differs or is not compared', () => {
  const expectation = '{"data":{"a.b":1,"c d":{"e":2}},"absent":["[\\"f.g\\"]"]}';
  const { differences } = judge({ data: '{"a.b":1}' }, conclusion('{"a.b":2,"c d":{"e":2}}'), {
    ignore: [],
    tookMs: 1,
  });
  const rows = expectedRows({ expect: expectation, differences, ignore: ['["c d"].e'] });
  expect(rows.map(({ path, expected, actual, ignored }) => [path, expected, actual, ignored])).toEqual([
    ['data["a.b"]', '1', '2', []],
    ['data["c d"]', '{"e":2}', '{"e":2}', ['data["c d"].e']],
    ['data["f.g"]', null, null, []],
  ]);
});

function conclusion(data: string) {
  const body = `{"mockId":"m","success":true,"the service":${data},"process":"[1:X:T:0]","error":null}`;
  return conclusionOf({ input: '{}', body, success: true });
}
