import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readExecuteRequest } from '../../../src/api/calls/read-request.ts';
import { messageOf } from '../../../src/shared/reasons/words.ts';
import { cpuMsOf } from '../../support/cpu-ms.ts';

const MAX_INT64 = '9223372036854775807';

describe('reading a request', () => {
  it('takes every field as it was meant', () => {
    expect(request('{"app":7,"ruleId":1,"confId":2,"ts":3,"the service":{"a":1.0},"target":"lane:x"}')).toEqual({
      app: 7,
      ruleId: 1n,
      scene: null,
      confId: 2n,
      ts: 3n,
      debug: null,
      dryRun: false,
      stub: '{}',
      comparisonId: null,
      derivedFrom: null,
      'the service': '{"a":1.0}',
      target: { kind: 'lane', lane: 'x' },
    });
  });

  it.each([
    ['only one id', '{"app":1,"ruleId":1}', { confId: null, ts: null, 'the service': '{}', target: { kind: 'all' } }],
    ['nulls', '{"app":1,"confId":1,"ruleId":null,"ts":null,"the service":null,"target":null}', { ruleId: null }],
    ['zeros', '{"app":1,"confId":0,"ruleId":1,"ts":0}', { confId: null, ts: null }],
    ['an empty target', '{"app":1,"ruleId":1,"target":""}', { target: { kind: 'all' } }],
    ['integers in other spellings', '{"app":1e0,"ruleId":10.0e-1,"ts":1E3}', { app: 1, ruleId: 1n, ts: 1000n }],
    ['the largest ids', `{"app":2147483647,"ruleId":${MAX_INT64},"confId":${MAX_INT64}}`, { ruleId: 2n ** 63n - 1n }],
    ['escapes in keys', '{"\\u0061pp":1,"rule\\u0049d":1}', { app: 1, ruleId: 1n }],
  ])('%s', (_what, body, expected) => {
    expect(request(body)).toMatchObject(expected);
  });

  it('the input stays the text it was, whatever is in it', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue()), (data) => {
        const text = JSON.stringify(data, null, 1);
        expect(request(`{"app":1,"ruleId":1,"the service":${text}}`)['the service']).toBe(text);
      }),
    );
  });
});

describe('a bad request', () => {
  it.each([
    ['app', '{"ruleId":1}', 'must be an integer from 1 to 2147483647, found nothing'],
    ['app', '{"app":"7","ruleId":1}', 'must be an integer from 1 to 2147483647, found a string'],
    ['app', '{"app":0,"ruleId":1}', 'must be an integer from 1 to 2147483647, found 0'],
    ['app', '{"app":2147483648,"ruleId":1}', 'must be an integer from 1 to 2147483647, found 2147483648'],
    ['app', '{"app":1.5,"ruleId":1}', 'must be an integer from 1 to 2147483647, found 1.5'],
    ['ruleId', '{"app":7,"ruleId":"1"}', `must be an integer from 0 to ${MAX_INT64}, found a string`],
    ['ts', '{"app":7,"ruleId":1,"ts":1774310400}', 'is in seconds: give milliseconds since 1970, three digits more'],
    ['ruleId', '{"app":7,"ruleId":-1}', `must be an integer from 0 to ${MAX_INT64}, found -1`],
    [
      'confId',
      '{"app":7,"confId":9223372036854775808}',
      `must be an integer from 0 to ${MAX_INT64}, found 9223372036854775808`,
    ],
    [
      'ruleId',
      `{"app":7,"ruleId":${'9'.repeat(5000)}}`,
      `must be an integer from 0 to ${MAX_INT64}, found ${'9'.repeat(37)}…`,
    ],
    [
      'ts',
      '{"app":7,"ruleId":1,"ts":-1}',
      expect.stringMatching(/^must be a time in milliseconds since 1970 .*found -1$/),
    ],
    [
      'ts',
      '{"app":7,"ruleId":1,"ts":"now"}',
      expect.stringMatching(/^must be a time in milliseconds since 1970 .*found a string$/),
    ],
    ['the service', '{"app":7,"ruleId":1,"the service":[]}', 'must be a JSON object, found a list'],
    ['target', '{"app":7,"ruleId":1,"target":5}', 'must be a string, found 5'],
    ['target', '{"app":7,"ruleId":1,"target":"lane:"}', 'names no lane: write "lane:<lane>"'],
    [
      'target',
      '{"app":7,"ruleId":1,"target":"address:a\\u0000b"}',
      'the address contains a character that cannot be seen: "a\\u0000b"',
    ],
    ['ruleId', '{"app":7}', 'required, unless `confId` or `scene` is given'],
    ['the service.a', '{"app":7,"ruleId":1,"the service":{"a":1,"a":1}}', 'is given twice'],
    [
      expect.stringMatching(/^the service\.a\[0\]/),
      `{"app":7,"ruleId":1,"the service":{"a":${'['.repeat(250)}${']'.repeat(250)}}}`,
      expect.stringMatching(/^is not JSON: nested deeper than 200 levels/),
    ],
    ['body', '\ufeff{"app":7,"ruleId":1}', expect.stringMatching(/^starts with a byte order mark/)],
    ['ruleId', '{"app":7,"confId":null,"ruleId":0}', 'required, unless `confId` or `scene` is given'],
    ['target', '{"app":7,"ruleId":1,"target":"address:../../x"}', expect.stringContaining('path')],
    ['body', '"text"', 'must be a JSON object, found a string'],
    ['body', 'null', 'must be a JSON object, found null'],
    ['body', '{"app":7,"ruleId":1}x', 'is not JSON: unexpected x after the end of the JSON value at character 21'],
    ['body', '{"app":7,', 'is not JSON: it ends too early, after 9 characters'],
    ['body', '', 'is empty: send a JSON object such as {"app":1,"ruleId":1}'],
    [
      'the service.n',
      '{"app":7,"ruleId":1,"the service":{"n":NaN}}',
      'is not JSON: NaN is not a JSON value at character 40',
    ],
  ])('names %s: %s', (field, body, message) => {
    expect(problems(body)).toEqual([{ field, message }]);
  });

  it.each([
    ['roam', 'the service'],
    ['service', 'the service'],
    ['iceId', 'ruleId'],
    ['rulId', 'ruleId'],
    ['app ', 'app'],
    ['TS', 'ts'],
    ['taregt', 'target'],
  ])('%s is no field, but %s is', (key, meant) => {
    expect(problems(`{"app":7,"ruleId":1,${JSON.stringify(key)}:null}`)).toEqual([
      { field: key, message: `is not known here; did you mean "${meant}"?` },
    ]);
  });

  it.each(['dry', 'simulate', 'no-effects', 'DRYRUN'])(
    '%s is no field: a run without effects is asked for with dryRun',
    (key) => {
      const message = 'is not known here; did you mean "dryRun"?';
      expect(problems(`{"app":7,"ruleId":1,${JSON.stringify(key)}:true}`)).toEqual([{ field: key, message }]);
    },
  );

  it.each(['tag', 'user', 'mockId', '', '__proto__', 'constructor', 'toString'])('%j is no field', (key) => {
    const [problem] = problems(`{"app":7,"ruleId":1,${JSON.stringify(key)}:null}`);
    expect(problem).toMatchObject({ field: key, message: expect.stringMatching(/^is not known here/) });
  });

  it.each(['__proto__', 'constructor', '0', '07', '+7', '1e1', '7.0', '', 'x'])(
    '%j is no node that a stub can name',
    (key) => {
      const stub = `{${JSON.stringify(key)}:"TRUE","7":"NONE"}`;
      expect(problems(`{"app":7,"ruleId":1,"dryRun":true,"stub":${stub}}`)).toEqual([
        { field: `stub.${key}`, message: 'must be the id of a node' },
      ]);
    },
  );

  it('names the stub that says no outcome', () => {
    const bad = ['1', '"true"', 'null', '{}', '{"outcome":"TRUE","__proto__":1}', '{"outcome":"TRUE","set":1}'];
    for (const value of bad)
      expect(problems(`{"app":7,"ruleId":1,"dryRun":true,"stub":{"7":${value}}}`).map(({ field }) => field)).toEqual([
        'stub.7',
      ]);
  });

  it('names a long key by its beginning', () => {
    const [problem] = problems(`{"app":7,"ruleId":1,"${'k'.repeat(100_000)}":null}`);
    expect(problem?.field.length).toBeLessThan(100);
  });

  it('says everything that is wrong, the two ids as well', () => {
    const fields = problems('{"app":0,"ts":"x","the service":1,"target":"x","Roam":1,"a":1,"a":2}').map(
      ({ field }) => field,
    );
    expect([...new Set(fields)].sort()).toEqual(['Roam', 'a', 'app', 'ruleId', 'target', 'the service', 'ts']);
  });

  it('a bad id is one problem, not also a missing one', () => {
    expect(problems('{"app":7,"ruleId":"x"}').map(({ field }) => field)).toEqual(['ruleId']);
  });

  it('is no larger than what it is told about', () => {
    const keys = Array.from({ length: 20_000 }, (_, number) => `"${'_'.repeat(number % 35)}ap${number}p":1`);
    const bad = problems(`{${keys.map((key) => key.replace(/\d+/, '')).join()}}`);
    expect(bad.length).toBeLessThanOrEqual(100);
  });

  it('is found within moments, whatever a mebibyte of it is made of', () => {
    const size = 1024 * 1024;
    const bodies = [
      `{"app":1${'0'.repeat(size)}1,"ruleId":1}`,
      `{"app":1.${'0'.repeat(size)}1,"ruleId":1}`,
      `{"app":1e${'9'.repeat(size)},"ruleId":1}`,
      `{"ruleId":1,${'"_":1,'.repeat(size / 6)}"app":1}`,
      `{"ruleId":1,"the service":${'{"a":'.repeat(size / 5)}`,
      `{"target":"${'\\u0000'.repeat(size / 6)}","app":1}`,
      `${' '.repeat(size)}x`,
    ];
    const read = () => bodies.map((body) => readExecuteRequest(Buffer.from(body)).kind);
    expect(cpuMsOf(() => expect(new Set(read())).toEqual(new Set(['bad'])))).toBeLessThan(10_000);
  });
});

function request(body: string) {
  const read = readExecuteRequest(Buffer.from(body));
  if (read.kind === 'bad') throw new Error(JSON.stringify(read.problems));
  return read.request;
}

function problems(body: string): { field: string; message: string }[] {
  const read = readExecuteRequest(Buffer.from(body));
  return read.kind === 'bad' ? read.problems.map((each) => ({ field: each.field, message: messageOf(each) })) : [];
}
