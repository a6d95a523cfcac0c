import { describe, expect, test } from 'vitest';
import type { Leaves } from '../../../src/client/leaves/leaf.ts';
import { type Nodes, rulesOf, run } from '../support/run-rule.ts';
import { leafFile, smallLeaves } from '../support/small-leaves.ts';

const { T, F, N, E } = leafFile;
const ended = async (nodes: Nodes, ts?: number) => {
  const { outcome, process } = await run(rulesOf(nodes, smallLeaves), ts === undefined ? {} : { ts });
  return `${outcome} ${process}`;
};

describe('a forward condition', () => {
  test.each([
    ['TRUE leaves the node its own state', T, F, 'FALSE [2:Yes:T:0][1:No:F:0]'],
    ['TRUE makes a node without an opinion TRUE', T, N, 'TRUE [2:Yes:T:0][1:Silent:T:0]'],
    ['NONE changes nothing', N, N, 'NONE [2:Silent:N:0][1:Silent:N:0]'],
    ['FALSE keeps the node from running', F, T, 'FALSE [2:No:F:0][1:Yes:R-F]'],
  ])('that is %s', async (_title, forward, node, expected) => {
    expect(await ended({ 1: { ...node, forwardId: 2 }, 2: forward })).toBe(expected);
  });

  test('that is FALSE makes an inverted node FALSE, not TRUE', async () => {
    expect(await ended({ 1: { ...T, forwardId: 2, inverse: true }, 2: F })).toBe('FALSE [2:No:F:0][1:Yes:R-F]');
  });

  test('is inverted itself before it counts', async () => {
    expect(await ended({ 1: { ...T, forwardId: 2 }, 2: { ...F, inverse: true } })).toBe('TRUE [2:No:F-I:0][1:Yes:T:0]');
  });

  test('outside its own time window lets the node run', async () => {
    expect(await ended({ 1: { ...F, forwardId: 2 }, 2: { ...F, timeType: 6, end: 1 } })).toBe(
      'FALSE [2:No:O][1:No:F:0]',
    );
  });

  test('that fails is an error of the node it guards', async () => {
    expect(await ended({ 1: { ...T, forwardId: 2, errorState: 2 }, 2: E })).toBe('NONE [2:Boom:S:0][1:Yes:N:0]');
  });
});

describe('inversion', () => {
  test.each([
    ['TRUE to FALSE', T, 'FALSE [1:Yes:T-I:0]'],
    ['FALSE to TRUE', F, 'TRUE [1:No:F-I:0]'],
    ['NONE to nothing else', N, 'NONE [1:Silent:N-I:0]'],
  ])('turns %s', async (_title, node, expected) => {
    expect(await ended({ 1: { ...node, inverse: true } })).toBe(expected);
  });

  test('of a parallel ANY counts, and its id is its own', async () => {
    expect(await ended({ 1: { type: 12, sonIds: '2,3', inverse: true }, 2: T, 3: F })).toBe(
      'FALSE [2:Yes:T:0][3:No:F:0][1:P-Any:T-I:0]',
    );
  });
});

describe('a time window', () => {
  test.each([
    { timeType: 5, start: 100, outside: [99], inside: [100] },
    { timeType: 6, end: 200, outside: [201], inside: [200] },
    { timeType: 7, start: 100, end: 200, outside: [99, 201], inside: [100, 200] },
    // As in the Java SDK: a missing end is 1970.
    { timeType: 7, start: 100, outside: [150], inside: [] },
    { timeType: 6, outside: [150], inside: [] },
    { timeType: 5, outside: [], inside: [150] },
    { timeType: 1, start: 100, end: 200, outside: [], inside: [5] },
    { timeType: 99, start: 100, end: 200, outside: [], inside: [5] },
  ])('of type $timeType from $start to $end holds both its ends', async ({ outside, inside, ...window }) => {
    for (const ts of outside) expect(await ended({ 1: { ...T, ...window } }, ts)).toBe('NONE [1:Yes:O]');
    for (const ts of inside) expect(await ended({ 1: { ...T, ...window } }, ts)).toBe('TRUE [1:Yes:T:0]');
  });

  test('leaves an inverted node NONE', async () => {
    expect(await ended({ 1: { ...T, inverse: true, timeType: 6, end: 1 } })).toBe('NONE [1:Yes:O]');
  });
});

describe('an error', () => {
  test('ends the run with its message and with the trace so far', async () => {
    expect(await ended({ 1: { type: 1, sonIds: '2,3,4' }, 2: T, 3: E, 4: T })).toBe(
      'kaboom [2:Yes:T:0][3:Boom:S:0][1:And:S:0]',
    );
  });

  test.each([
    [0, 'FALSE [1:Boom:F:0]'],
    [1, 'TRUE [1:Boom:T:0]'],
    [2, 'NONE [1:Boom:N:0]'],
    [3, 'kaboom [1:Boom:S:0]'],
    [4, 'kaboom [1:Boom:S:0]'],
    [-1, 'kaboom [1:Boom:S:0]'],
    [undefined, 'kaboom [1:Boom:S:0]'],
  ])('with errorState %s becomes a state as in the Java SDK', async (errorState, expected) => {
    expect(await ended({ 1: { ...E, errorState } })).toBe(expected);
  });

  test('that became a state is inverted like any other', async () => {
    expect(await ended({ 1: { ...E, errorState: 1, inverse: true } })).toBe('FALSE [1:Boom:T-I:0]');
  });

  test('of a child is absorbed by the first ancestor that says so', async () => {
    const nodes = { 1: { type: 1, sonIds: '2,4' }, 2: { type: 1, sonIds: '3', errorState: 2 }, 3: E, 4: T };
    expect(await ended(nodes)).toBe('TRUE [3:Boom:S:0][2:And:N:0][4:Yes:T:0][1:And:T:0]');
  });

  test('that comes late is treated like one that comes at once', async () => {
    const late = { type: 5, confName: 'LaterBoom' };
    expect(await ended({ 1: { type: 1, sonIds: '2' }, 2: { ...late, errorState: 0 } })).toBe(
      'FALSE [2:LaterBoom:F:0][1:And:F:0]',
    );
    expect(await ended({ 1: late })).toBe('later kaboom [1:LaterBoom:S:0]');
  });

  test('is shown at its step even when it was absorbed', async () => {
    const { steps } = await run(rulesOf({ 1: { ...E, errorState: 1 } }, smallLeaves));
    expect(steps).toMatchObject([{ outcome: 'TRUE', error: 'kaboom' }]);
  });

  const handled: Leaves = {
    ...smallLeaves,
    Handled: class {
      doFlow(): boolean {
        throw new Error('kaboom');
      }
      errorHandle(): 'TRUE' {
        return 'TRUE';
      }
    },
    BadHandler: class {
      doFlow(): boolean {
        throw new Error('kaboom');
      }
      errorHandle(): never {
        throw new Error('the handler failed');
      }
    },
  };

  test('is first the business of its leaf, then of the client, and the file overrules both', async () => {
    const handleError = () => 'NONE' as const;
    const outcome = async (node: Record<string, unknown>) =>
      (await run(rulesOf({ 1: { type: 5, ...node } }, handled), { handleError })).outcome;
    expect(await outcome({ confName: 'Handled' })).toBe('TRUE');
    expect(await outcome({ confName: 'Boom' })).toBe('NONE');
    expect(await outcome({ confName: 'Handled', errorState: 0 })).toBe('FALSE');
    expect(await outcome({ confName: 'BadHandler' })).toBe('the handler failed');
  });

  test('that is no Error is named for what it is', async () => {
    const leaves: Leaves = {
      Text: class {
        doFlow(): boolean {
          throw 'just text';
        }
      },
      Nothing: class {
        doFlow(): boolean {
          throw undefined;
        }
      },
    };
    const outcome = async (confName: string) => (await run(rulesOf({ 1: { type: 5, confName } }, leaves))).outcome;
    expect(await outcome('Text')).toBe('just text');
    expect(await outcome('Nothing')).toBe('something that is not an Error was thrown: undefined');
  });

  test('is what a condition that returns no boolean comes to', async () => {
    const leaves: Leaves = JSON.parse('{}');
    const forgetful = {
      doFlow() {
        return JSON.parse('null');
      },
    };
    const rules = rulesOf(
      { 1: { type: 5, confName: 'Forgetful' } },
      {
        ...leaves,
        Forgetful: class {
          doFlow = forgetful.doFlow;
        },
      },
    );
    expect((await run(rules)).outcome).toBe('doFlow returned object, not true or false');
  });
});
