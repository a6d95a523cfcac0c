import { describe, expect, test } from 'vitest';
import { bodyOf, readExecution } from '../../src/console/api/executions.ts';
import { curlOf } from '../../src/console/run/calls.ts';
import { exampleInput, formRows, unusedAndMissing, writersOf } from '../../src/console/run/form.ts';
import { edgesOf } from '../../src/console/screen/result/time-window-words.ts';
import { formatAge, formatBytes, formatMs } from '../../src/console/text/durations.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';
import { isOutside } from '../../src/shared/reasoning/time-window.ts';
import { toldExecution } from '../support/told-execution.ts';
import { leaf, node } from './support/rule-tree.ts';

/** A key whose name is the value of another one. */
const WHICH = '$\u007bwhich}';

const field = (key: string, valueType: string, nodeId: number) => ({
  key,
  valueType,
  nodeId: String(nodeId),
  nodeName: `node ${nodeId}`,
});
const use = (
  key: string,
  more: { nested?: boolean; dynamic?: boolean; readers?: string[]; writers?: string[] } = {},
) => ({
  key,
  valueType: 'Object',
  dynamic: false,
  nested: false,
  readers: ['1'],
  writers: [],
  ...more,
});
const root = node(1, 'And', [
  leaf(2, { values: '{"min":100}' }),
  leaf(3, { values: '{"uids":[13,666]}', inverse: true }),
  leaf(5, { values: '{"key":"city","cities":["Berlin","Lyon"]}' }),
]);
const tree = {
  rule: null,
  version: '1',
  root,
  keys: [
    use('cost', { readers: ['2', '7'] }),
    use('uid', { readers: ['3'] }),
    use('vip.level', { nested: true }),
    use(WHICH, { dynamic: true }),
  ],
  missing: [],
  shared: [],
  cycle: null,
  fallback: false,
  digest: null,
  edited: null,
};
const schema = {
  fields: [
    field('cost', 'Double', 2),
    field('uid', 'Long', 3),
    field('city', 'String', 5),
    field('vip.level', 'Integer', 2),
    field(WHICH, 'Object', 5),
  ],
  fallback: false,
  digest: null,
  edited: null,
};
const rootOf = (text: string) => {
  const read = readJson(text);
  if (read.kind === 'bad') throw new Error(read.fault.problem);
  return read.root;
};

describe('the form', () => {
  test('an example takes its values from the settings of the nodes, but not those an inverted node forbids', () => {
    expect(JSON.parse(exampleInput(schema, tree))).toEqual({ cost: 100, uid: 1, city: 'Berlin', vip: { level: 100 } });
  });

  test('has a row for each key that is read, nested ones by their path, and for what else is sent', () => {
    const { rows, dynamic } = formRows(rootOf('{"extra":1,"vip":{"level":2},"cost":null}'), schema, tree);
    expect(rows.map(({ path, value }) => [path.join('/'), value?.kind ?? 'absent'])).toEqual([
      ['cost', 'null'],
      ['uid', 'absent'],
      ['city', 'absent'],
      ['vip/level', 'number'],
      ['extra', 'number'],
    ]);
    expect(rows[0]?.readers).toEqual([
      { id: '2', name: 'node 2' },
      { id: '7', name: '' },
    ]);
    expect(dynamic).toEqual([WHICH]);
  });

  test('says what stands in the way of a nested key', () => {
    const { rows } = formRows(rootOf('{"vip":5}'), schema, tree);
    expect(rows.find(({ key }) => key === 'vip.level')?.inTheWay).toBe('vip');
  });
});

describe('who read and wrote what', () => {
  test('keys that are sent and not read, and read and not sent', () => {
    const { unread, missing } = unusedAndMissing(rootOf('{"channel":1,"cost":1,"vip":{}}'), {
      ...tree,
      keys: tree.keys.slice(0, 3),
    });
    expect(unread).toEqual(['channel']);
    expect(missing.map(({ key }) => key)).toEqual(['uid', 'vip.level']);
  });

  test('a key only known at run time may be any of those that are sent', () => {
    expect(unusedAndMissing(rootOf('{"channel":1}'), tree).unread).toEqual([]);
  });

  test('writers are found by path, above and below, and by what a composed key may be', () => {
    const keys = [use('gift', { writers: ['4'] }), use('$\u007bprefix}sent', { writers: ['9'], dynamic: true })];
    const writers = (path: string) => writersOf(path, { ...tree, keys }, new Map()).ids;
    expect([writers('gift'), writers('gift.uid'), writers('gift_sent'), writers('other')]).toEqual([
      ['4'],
      ['4'],
      ['9'],
      [],
    ]);
  });
});

describe('calls', () => {
  const call = {
    app: '1',
    ruleId: '9223372036854775807',
    confId: null,
    ts: null,
    target: 'lane:beta',
    input: '{"name":"O\'Neil","n":1e400}',
    dryRun: false,
    stub: {},
    comparisonId: null,
    derivedFrom: null,
  };

  test('the body holds ids and input as they are', () => {
    expect(bodyOf(call)).toBe(
      '{"app":1,"ruleId":9223372036854775807,"target":"lane:beta","the service":{"name":"O\'Neil","n":1e400}}',
    );
  });

  test('cURL survives quotes, and names the key without having it', () => {
    expect(curlOf(call, { origin: 'http://host', signedIn: true })).toBe(
      `curl -sS http://host/rule-server/mock/execute -H 'content-type: application/json' -H "authorization: Bearer $RULE_SERVER_KEY" -d '{"app":1,"ruleId":9223372036854775807,"target":"lane:beta","the service":{"name":"O'\\''Neil","n":1e400}}'`,
    );
  });

  test('an execution’s texts are cut out of its answer to the character', () => {
    const texts = { input: '{"2":1.0,"1":-0,"1":{"__proto__":1}}', result: '{ "x": 1e400 }' };
    const body = toldExecution({ ...texts, ruleId: '9007199254740993', history: [{ state: 'queued', at: 5 }] });
    const { record, input, result, lateResult } = readExecution(body);
    expect([input, result, lateResult]).toEqual([texts.input, texts.result, null]);
    expect(record).toMatchObject({
      ruleId: '9007199254740993',
      state: 'succeeded',
      history: [{ state: 'queued', at: 5 }],
    });
  });
});

describe('times', () => {
  test('durations are as short as they are precise', () => {
    expect([0, 0.04, 0.44, 9.96, 12, 999, 1940, 12_340, 59_960, 125_000].map(formatMs)).toEqual([
      '0 ms',
      '< 0.1 ms',
      '0.4 ms',
      '10.0 ms',
      '12 ms',
      '999 ms',
      '1.94 s',
      '12.3 s',
      '1 min 0 s',
      '2 min 5 s',
    ]);
    expect([1000, 200_000, 10_000_000, 400_000_000].map(formatAge)).toEqual(['1 s', '3 min', '3 h', '5 d']);
    expect([12, 1200, 1_500_000].map(formatBytes)).toEqual(['12 B', '1.2 kB', '1.5 MB']);
  });

  test('both ends of a time window belong to it', () => {
    const window = { type: 'between', start: '1000', end: '2000' } as const;
    expect(['999', '1000', '2000', '2001'].map((ms) => isOutside(window, BigInt(ms)))).toEqual([
      true,
      false,
      false,
      true,
    ]);
    expect(edgesOf(window).map(({ ts }) => ts)).toEqual(['999', '1000', '2000', '2001']);
    expect(edgesOf({ type: 'before', start: null, end: '2000' }).map(({ name }) => name)).toEqual(['end', 'after']);
  });
});
