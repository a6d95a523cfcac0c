import { expect, test } from 'vitest';
import { hasWords, holds, readCondition, type Search } from '../../../src/api/executions/search/search-conditions.ts';
import { searchExecutions } from '../../../src/api/executions/search/search-executions.ts';
import type { ExecutionRecord } from '../../../src/shared/contract/execution-record.ts';
import { parseExact } from '../../../src/shared/contract/json/exact-json.ts';
import { cursorOf, type HistoryFilter } from '../../../src/shared/store/history/history.ts';
import { keptRecord } from '../../support/kept-record.ts';

const INPUT = parseExact(
  '{"uid":42,"text":"42","total":99.50,"big":12345678901234567890,"user":{"name":"Ann","tags":["a","b"]},"none":null,"on":true,"a.b":1e2}',
);

test.each([
  ['uid=42', true],
  ['uid="42"', false],
  ['text=42', true],
  ['text=42.0', true],
  ['text=43', false],
  ['text!=42', false],
  ['uid==42', true],
  ['uid == 42', true],
  ['user.name=true', false],
  ['text="42"', true],
  ['uid!=41', true],
  ['gone!=1', true],
  ['gone=null', false],
  ['none=null', true],
  ['on=true', true],
  ['total=99.5', true],
  ['total>=99.50', true],
  ['total>99.5', false],
  ['total<1e2', true],
  ['big=12345678901234567890', true],
  ['big=12345678901234567891', false],
  ['big<12345678901234567891', true],
  ['user.name=Ann', true],
  ['user.name = Ann', true],
  ['user.tags[1]=b', true],
  ['["a.b"]=100', true],
  ['uid>-1', true],
  ['text>1', false],
])('%s: %s', (text, expected) => {
  const condition = readCondition(text);
  if ('code' in condition) throw new Error(condition.code);
  expect(holds(condition, INPUT)).toBe(expected);
});

test.each([
  ['uid', { code: 'invalid-format', params: { expected: 'condition', example: 'cost>=100' } }],
  ['=4', { code: 'invalid-format', params: { expected: 'condition', example: 'cost>=100' } }],
  ['a..b=1', { code: 'invalid-format', params: { expected: 'condition', example: 'cost>=100' } }],
  ['uid>"4"', { code: 'no-order', params: { operator: '>' } }],
  ['uid={"a":1}', { code: 'no-scalar' }],
])('%s: %s', (text, problem) => {
  expect(readCondition(text)).toMatchObject({ field: 'where', ...problem });
});

// The time may grow with the length alone: a slow one would hold up every other call of the process.
test.each([
  [
    'a path that nothing follows',
    'a'.repeat(100_000),
    { code: 'invalid-format', params: { expected: 'condition', example: 'cost>=100' } },
  ],
  [
    'letters, then one that no path has',
    `${'˜µ≤≥'.repeat(25_000)}"`,
    { code: 'invalid-format', params: { expected: 'condition', example: 'cost>=100' } },
  ],
  [
    'brackets that nobody closes',
    '["a"]['.repeat(20_000),
    { code: 'invalid-format', params: { expected: 'condition', example: 'cost>=100' } },
  ],
])('a long condition is read at once: %s', (_, text, problem) => {
  expect(readCondition(text)).toMatchObject({ field: 'where', ...problem });
});

const COUNT = 3000;
const inputs = Array.from({ length: COUNT }, (_, n) =>
  n % 50 === 7 ? null : `{"uid":${n % 97},"id":9007199254740${993 + (n % 3)},"note":"order ${n}"}`,
);
const records = inputs.map((_, n): ExecutionRecord => {
  const at = 1_000_000 + (COUNT - n) * 1000;
  return keptRecord({
    mockId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
    app: 7,
    ...{ keyName: n % 5 === 0 ? 'ann' : null, address: `client-${n % 4}`, state: 'succeeded' },
    history: [
      { state: 'queued', at },
      { state: 'succeeded', at: at + 5 },
    ],
    ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
    outcome: n % 3 === 0 ? 'TRUE' : 'FALSE',
    ...{ lane: n % 7 === 0 ? 'beta' : null, comparisonId: `compared-${n % 11}` },
    error: n % 13 === 0 ? `Card ${n} was declined` : null,
  });
});

async function list({ limit, cursor }: HistoryFilter) {
  const from = cursor === undefined ? 0 : records.findIndex((record) => cursorOf(record) === cursor) + 1;
  const page = records.slice(from, from + limit);
  const last = page.at(-1);
  return { records: page, nextCursor: last && from + limit < COUNT ? cursorOf(last) : null };
}
const record = (n: number): ExecutionRecord =>
  keptRecord({ ...records[0], mockId: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}` });
const numberOf = ({ mockId }: ExecutionRecord) => Number(mockId.slice(-12));

async function all(search: Partial<Search>, limit = 30) {
  const found: number[] = [];
  let [cursor, executions, withoutInput]: [string | undefined, number, number] = [undefined, 0, 0];
  for (;;) {
    const filter = { app: 7, limit, cursor };
    const page = await searchExecutions(
      filter,
      { where: [], ...search },
      { list, inputOf: async (record) => inputs[numberOf(record)] ?? null },
    );
    found.push(...page.records.map(numberOf));
    executions += page.searched.executions;
    withoutInput += page.searched.withoutInput;
    if (page.nextCursor === null) return { found, executions, withoutInput };
    cursor = page.nextCursor;
  }
}
const where = (...texts: string[]) => texts.map(readCondition).filter((condition) => 'path' in condition);
const scan = (fits: (n: number, input: string | null) => boolean) =>
  inputs.flatMap((input, n) => (fits(n, input) ? [n] : []));

test('finds what a plain scan finds, each once, however it is cut into pages', async () => {
  const uid = await all({ where: where('uid=42') });
  expect(uid.found).toEqual(scan((n, input) => input !== null && n % 97 === 42));
  expect(uid).toMatchObject({ executions: COUNT, withoutInput: COUNT / 50 });
  expect((await all({ where: where('uid=42') }, 7)).found).toEqual(uid.found);
  const big = await all({ where: where('id=9007199254740993', 'uid>=90') });
  expect(big.found).toEqual(scan((n, input) => input !== null && n % 3 === 0 && n % 97 >= 90));
  expect((await all({ by: 'ann', outcome: 'TRUE', address: 'client-0' })).found).toEqual(scan((n) => n % 60 === 0));
  expect((await all({ text: 'ORDER 1234' })).found).toEqual([1234]);
  expect((await all({ text: 'declined' })).found).toEqual(scan((n) => n % 13 === 0));
  expect((await all({ text: 'declined beta' })).found).toEqual(scan((n) => n % 91 === 0));
  const beta = await all({ lane: 'beta', comparisonId: 'compared-3' });
  expect(beta.found).toEqual(scan((n) => n % 7 === 0 && n % 11 === 3));
});

test('does not look at what ended before the time that is searched', async () => {
  const from = records[100]?.history[0]?.at ?? 0;
  const { found, executions } = await all({ from });
  expect(found).toEqual(scan((n) => n <= 100));
  expect(executions).toBeLessThan(600); // five minutes more, in which one may have been added late
});

test('finds what began since, also behind many that are open for longer, and behind one that was added late', async () => {
  const from = records[100]?.history[0]?.at ?? 0;
  const old = (n: number, state: 'picked-up' | 'succeeded') => {
    const history = [
      { state: 'queued' as const, at: 1 },
      { state, at: 2 },
    ];
    return { ...record(9000 + n), state, history };
  };
  const open = Array.from({ length: 130 }, (_, n) => old(n, 'picked-up'));
  const late = Array.from({ length: 3 }, (_, n) => old(200 + n, 'succeeded'));
  const source = [...open, ...late, ...records];
  const listed = async ({ limit, cursor = '0' }: HistoryFilter) => {
    const next = Number(cursor) + limit;
    return { records: source.slice(Number(cursor), next), nextCursor: next < source.length ? String(next) : null };
  };
  const found = await searchExecutions(
    { app: 7, limit: 1000 },
    { where: [], from },
    { list: listed, inputOf: async () => null },
  );
  expect(found.records.map(numberOf)).toEqual(scan((n) => n <= 100));
});

test.each([
  ['5521', 'code 5521: refused', true],
  ['5521', 'refused by 5521.', true],
  ['5521', 'code 15521', false],
  ['5521', 'cost 5521.5', false],
  ['5521', 'vm_5521', false],
  ['refused', 'it was REFUSED', true],
])('the word %s in the error "%s": %s', (word, error, isFound) => {
  expect(hasWords(word, { ...record(1), error }, null)).toBe(isFound);
});

test('words are found in an input that has its letters as escapes', () => {
  expect(hasWords('杭州', record(1), '{"city":"\\u676d\\u5dde"}')).toBe(true);
  expect(hasWords('Köln', record(1), '{"city":"K\\u00f6ln"}')).toBe(true);
  expect(hasWords('杭', record(1), '{"city":"\\u5dde"}')).toBe(false);
});

test.each([
  ['C:\\temp', { p: 'C:\\temp' }, true],
  ['C:\\\\temp', { p: 'C:\\temp' }, false],
  ['"quick" fox', { p: 'a "quick" fox' }, true],
  ['"quick fox"', { p: 'a quick\nfox' }, true],
  ['"fox quick"', { p: 'a quick fox' }, false],
  ['"say \\"hi\\""', { p: 'say "hi"' }, true],
  ['5"', { p: '5" pipe' }, true],
  ['one two', { p: 'one\ntwo' }, true],
  ['x\\ny', { p: 'x\ny' }, false],
  ['u00e9', { p: 'caf\u00e9' }, false],
  ['a/b', { p: 'a/b' }, true],
  ['berlin\\u200b', { city: 'Berlin\u200b' }, true],
  ['berlin\u200b', { city: 'Berlin' }, false],
  ['the.key', { 'the.key': 1 }, true],
  ['42', { uid: 42 }, true],
  ['"42"', { uid: 420 }, false],
])('the words %j in the values of %j: %s', (words, input, isFound) => {
  expect(hasWords(words, record(1), JSON.stringify(input))).toBe(isFound);
});

test('a page of records that nobody can read does not end a search with a beginning', async () => {
  const from = records[100]?.history[0]?.at ?? 0;
  const listed = async ({ limit, cursor = '0' }: HistoryFilter) => {
    const page = Number(cursor);
    if (page < 3) return { records: [], nextCursor: `${page + 1}` }; // all of a later version
    return list({ limit, cursor: page === 3 ? undefined : cursor });
  };
  const pages = { list: listed, inputOf: async () => null };
  const found = await searchExecutions({ app: 7, limit: 1000 }, { where: [], from }, pages);
  expect(found.records.map(numberOf)).toEqual(scan((n) => n <= 100));
});

test.each([
  ['the field', '{"phone":"***","uid":1}', ['phone=49'], { found: 0, withoutInput: 1 }],
  ['the field, for anything but a value', '{"phone":"***","uid":1}', ['phone!=49'], { found: 0, withoutInput: 1 }],
  ['one of two fields', '{"phone":"***","uid":1}', ['uid=1', 'phone=49'], { found: 0, withoutInput: 1 }],
  ['another field', '{"phone":"***","uid":1}', ['uid=1'], { found: 1, withoutInput: 0 }],
  ['a field in a list', '{"all":[{"phone":"***"}]}', ['all[0].phone=49'], { found: 0, withoutInput: 1 }],
  ['a field below one that is hidden', '{"card":"***"}', ['card.number=4'], { found: 0, withoutInput: 1 }],
  [
    'a field below one that is hidden, for anything but a value',
    '{"card":"***"}',
    ['card.number!=4'],
    { found: 0, withoutInput: 1 },
  ],
  ['a field that holds stars of its own', '{"phone":"** *","uid":1}', ['phone=49'], { found: 0, withoutInput: 0 }],
])('where something was hidden when it was kept, a search for %s', async (_, input, texts, expected) => {
  const pages = { list: async () => ({ records: [record(1)], nextCursor: null }), inputOf: async () => input };
  const { records: all, searched } = await searchExecutions({ app: 7, limit: 9 }, { where: where(...texts) }, pages);
  expect({ found: all.length, withoutInput: searched.withoutInput }).toEqual(expected);
});
