import { beforeEach, describe, expect, test } from 'vitest';
import type { Data } from '../../../src/client/engine/data/data.ts';
import type { Leaves } from '../../../src/client/leaves/leaf.ts';
import { readStubs } from '../../../src/client/requests/read-stubs.ts';
import { objectOf } from '../../../src/shared/rules/members.ts';
import { type Nodes, rulesOf, run } from '../support/run-rule.ts';

const called: string[] = [];
beforeEach(() => {
  called.length = 0;
});

/** Leaves that note that they were called: what does so does more than compute. */
const leaves: Leaves = {
  'x.Pay': class {
    doResult(service: Data): boolean {
      called.push('Pay');
      service.put('paid', true);
      return false;
    }
  },
  'x.Ask': class {
    doFlow(): boolean {
      called.push('Ask');
      return false;
    }
  },
  'x.Fails': class {
    doResult(): boolean {
      throw new Error('no money');
    }
  },
  'x.Compares': class {
    doFlow(service: Data): boolean {
      return service.int('n', 0) > 1;
    }
  },
  'x.Sends': {
    leaf: class {
      async doNone(): Promise<void> {
        called.push('Sends');
      }
    },
    effects: true,
  },
};
const PAY = { type: 6, confName: 'x.Pay' };
const ASK = { type: 5, confName: 'x.Ask' };
const told = async (nodes: Nodes, stubs = '{}') => {
  const ran = await run(rulesOf(nodes, leaves), { stubs, input: '{"n":2}' });
  const ids = Object.entries(ran.execution.run.dryRun?.effects() ?? {}).map(([kind, list]) => [kind, list.map(Number)]);
  return { outcome: ran.outcome, data: ran.data, process: ran.process, ...Object.fromEntries(ids) };
};

describe('a dry run', () => {
  test('fails where a stub is for a node that is not in the tree, or left out of it', async () => {
    const nodes = { 1: { type: 1, sonIds: '2,3' }, 2: ASK, 3: { type: 5, confName: 'x.Unknown' } };
    for (const id of [7, 3]) {
      const { ending } = await run(rulesOf(nodes, leaves), { stubs: `{"2":"TRUE","${id}":"TRUE"}`, input: '{}' });
      expect(ending).toMatchObject({
        kind: 'failed',
        error: expect.objectContaining({ message: expect.stringMatching(`^stub.${id} `) }),
      });
    }
    expect(called).toEqual([]);
  });

  test('takes a consequence for TRUE without calling it, also where that fails, and inverts it as ever', async () => {
    expect(await told({ 1: PAY })).toMatchObject({
      outcome: 'TRUE',
      assumed: [1],
      data: '{"n":2}',
      process: '[1:Pay:T:0]',
    });
    expect(await told({ 1: { ...PAY, inverse: true } })).toMatchObject({ outcome: 'FALSE', assumed: [1] });
    expect(await told({ 1: { type: 6, confName: 'x.Fails' } })).toMatchObject({ outcome: 'TRUE', assumed: [1] });
    expect(await told({ 1: { type: 7, confName: 'x.Sends' } })).toMatchObject({ outcome: 'TRUE', assumed: [1] });
    expect(called).toEqual([]);
  });

  test('calls what only computes, and names what may do more', async () => {
    const nodes: Nodes = { 1: { type: 4, sonIds: '2,3' }, 2: ASK, 3: { type: 5, confName: 'x.Compares' } };
    expect(await told(nodes)).toMatchObject({ outcome: 'TRUE', unsure: [2], assumed: [] });
    expect(called).toEqual(['Ask']);
  });

  test('names no node that did not run', async () => {
    const nodes: Nodes = { 1: { type: 1, sonIds: '2,3' }, 2: ASK, 3: PAY };
    expect(await told(nodes)).toMatchObject({ outcome: 'FALSE', unsure: [2], assumed: [] });
  });

  test.each([
    ['a leaf', { 1: { ...ASK, inverse: true } }, '{"1":"TRUE"}'],
    ['a relation, whose children do not run', { 1: { type: 1, sonIds: '2' }, 2: ASK }, '{"1":"TRUE"}'],
    ['a condition', { 1: { type: 1, sonIds: '3', forwardId: 2 }, 2: ASK, 3: { ...PAY } }, '{"2":"TRUE"}'],
    ['a node outside of its time window', { 1: { ...ASK, timeType: 3, end: 1 } }, '{"1":"TRUE"}'],
    ['every place of a node', { 1: { type: 9, sonIds: '2,2' }, 2: ASK }, '{"2":"TRUE"}'],
  ] as [string, Nodes, string][])('puts a stub in the place of %s', async (_what, nodes, stubs) => {
    expect(await told(nodes, stubs)).toMatchObject({ outcome: 'TRUE' });
    expect(called).toEqual([]);
  });

  test('writes what a stub sets, which later nodes read', async () => {
    const nodes: Nodes = { 1: { type: 1, sonIds: '2,3' }, 2: ASK, 3: { type: 5, confName: 'x.Compares' } };
    expect(await told(nodes, '{"2":{"outcome":"NONE","set":{"n":0}}}')).toMatchObject({
      outcome: 'FALSE',
      data: '{"n":0}',
    });
  });

  test('is one for which nothing is stubbed, too; a real run calls everything', async () => {
    expect((await run(rulesOf({ 1: PAY }, leaves))).outcome).toBe('FALSE');
    expect(called).toEqual(['Pay']);
  });
});

test.each([
  ['[]', /stub must be an object/],
  ['{"2":"MAYBE"}', /stub\.2 must be TRUE, FALSE or NONE/],
  ['{"2":{}}', /stub\.2 must be TRUE, FALSE or NONE/],
  ['{"2":{"outcome":"TRUE","set":1}}', /stub\.2\.set must be an object/],
  ['{"x":"TRUE"}', /x/],
])('%s is no stub', (text, sentence) => {
  const given = text.startsWith('[') ? [] : objectOf(text);
  expect(() => readStubs(given)).toThrow(sentence);
});
