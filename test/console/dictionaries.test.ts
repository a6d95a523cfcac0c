import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readExecution } from '../../src/console/api/executions.ts';
import { endedHeadline, refusedHeadline } from '../../src/console/run/headline.ts';
import { readRun } from '../../src/console/run/reading.ts';
import { en } from '../../src/console/text/en.ts';
import { zh } from '../../src/console/text/zh.ts';
import { readJson } from '../../src/shared/json-tree/read-json.ts';
import { format, partsOf, type Template } from '../../src/shared/reasoning/words/format.ts';
import { jsonFaults } from '../../src/shared/reasons/text-faults.ts';
import { toldExecution } from '../support/told-execution.ts';

const namesIn = (template: Template) => {
  const texts = typeof template === 'string' ? [template] : [template.one, template.other];
  return new Set(texts.flatMap(partsOf).flatMap((part) => (typeof part === 'string' ? [] : [part.name])));
};
const english = new Map<string, Template>(Object.entries(en));
const chinese = new Map<string, Template>(Object.entries(zh));

describe('the two languages', () => {
  test('have the same sentences', () => {
    expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort());
  });

  test('have the same names in each of them', () => {
    // A count may be told by the words alone: "one run".
    const names = (template: Template | undefined) =>
      [...namesIn(template ?? '')].filter((name) => name !== 'n').sort();
    const different = [...english].filter(([key, template]) => `${names(template)}` !== `${names(chinese.get(key))}`);
    expect(different.map(([key]) => key)).toEqual([]);
  });

  test('are both spoken: nothing was left in the other language', () => {
    const same = [...english].filter(
      ([key, template]) => JSON.stringify(template) === JSON.stringify(chinese.get(key)),
    );
    const alike =
      /^(outcome\.|sdk\.|run\.real\.quoted$|since\.value$|why\.change\.value$|dry\.pin$|trace\.wrote$|header\.version$|history\.outcome\.(TRUE|FALSE|NONE)$|input\.(json|kind\.(null|json))$|state\.error$)/;
    expect(same.map(([key]) => key).filter((key) => !alike.test(key))).toEqual([]);
  });

  test('sound like nobody shouts or apologises', () => {
    const texts = [...english.values()].flatMap((template) =>
      typeof template === 'string' ? [template] : Object.values(template),
    );
    for (const text of texts) expect(text).not.toMatch(/oops|sorry|!|successfully|please/i);
  });
});

test('a refusal is told by the sentence of its reason; one without a reason has a title', () => {
  const failure = { error: 'The service says this.', reason: 'no-worker', params: {}, mayHaveRun: false };
  expect(refusedHeadline(failure, false)).toMatchObject({ title: { key: 'state.error' }, hint: null });
  for (const [mayHaveRun, title] of [
    [false, 'state.rejected'],
    [true, 'state.outcome-unknown'],
  ] as const)
    expect(refusedHeadline({ ...failure, reason: null, mayHaveRun }, false)).toMatchObject({ title: { key: title } });
});

test('a run that its client answered is done; one without an answer is told by its reason, which may stand in the answer alone', () => {
  const titleOf = (members: Parameters<typeof toldExecution>[0]) => {
    const reading = readRun(readExecution(toldExecution(members)), []);
    return endedHeadline(reading, { client: 'c', window: '', tree: null }).title;
  };
  const result = '{"success":true,"the service":{},"error":null,"process":"[1:N:T:0]"}';
  const answered = { status: 200, code: null, reason: null, params: {}, mayHaveRun: true };
  expect(titleOf({ result, ending: answered }).key).toBe('state.done');
  const ending = { status: 504, code: 'not-picked-up', reason: 'not-picked-up', params: {}, mayHaveRun: false };
  const why = { error: 'It did not run.', reason: 'not-picked-up', params: {} };
  const timedOut = {
    state: 'timed-out',
    result: JSON.stringify({ success: false, ...why, code: 'not-picked-up' }),
  } as const;
  for (const reason of [ending.reason, null])
    expect(titleOf({ ...timedOut, ending: { ...ending, reason } })).toMatchObject({
      key: 'state.error',
      parameters: { error: why },
    });
  expect(titleOf({ ...timedOut, result: null, ending }).key).toBe('state.outcome-unknown');
});

test('every sentence is used somewhere', () => {
  const files = ['src/console', 'src/shared/reasoning'].flatMap((part) => {
    const folder = join(import.meta.dirname, '../..', part);
    const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /\.tsx?$/.test(name)).map((name) => join(folder, name));
  });
  const isSource = (path: string) => !/text[\\/](en|zh)|reasoning[\\/]english/.test(path);
  const source = files
    .filter(isSource)
    .map((path) => readFileSync(path, 'utf8'))
    .join('\n');
  // Some are put together: `skip.${kind}`.
  const beginnings = [...source.matchAll(/[`']([a-zA-Z.]+\.)(?:\$\{)/g)].map(([, beginning = '']) => beginning);
  const unused = [...english.keys()].filter(
    (key) =>
      !source.includes(`'${key}'`) &&
      !source.includes(`"${key}"`) &&
      !beginnings.some((beginning) => key.startsWith(beginning)),
  );
  expect(unused).toEqual([]);
});

test('each fault of a JSON text is found, and has words', () => {
  const texts = [
    '{"a": 1',
    '{"a": 1, "a": 2}',
    '{} {}',
    '{"a": tru}',
    '['.repeat(201),
    '{a: 1}',
    '{"a" 1}',
    '{"a": "\n"}',
    '{"a": "\\x"}',
    '{"a": "\\u12g4"}',
    '{"a": NaN}',
    '{"a": 1.}',
  ];
  const found = texts.map((text) => {
    const read = readJson(text);
    return read.kind === 'bad' ? read.fault.problem : 'none';
  });
  expect(found.toSorted()).toEqual(Object.keys(jsonFaults).toSorted());
});

test('a sentence about one thing and about several', () => {
  const clients = { one: '{n} client', other: '{n} clients' };
  expect([0, 1, 2].map((n) => format(clients, { n }))).toEqual(['0 clients', '1 client', '2 clients']);
  expect(format('{a} and {b}', { a: '{b}', b: 1 })).toBe('{b} and 1');
});
