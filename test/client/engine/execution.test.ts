import { expect, test } from 'vitest';
import { execute } from '../../../src/client/engine/execution.ts';
import { Stopped } from '../../../src/client/engine/run.ts';
import type { Leaves } from '../../../src/client/leaves/leaf.ts';
import { type Nodes, rulesOf, run } from '../support/run-rule.ts';
import { leafFile, smallLeaves } from '../support/small-leaves.ts';

const { T, F } = leafFile;

test('a rule, a node, and a node inside a rule can be run', async () => {
  const rules = rulesOf({ 1: { type: 1, sonIds: '2,3' }, 2: { type: 4, sonIds: '4' }, 3: F, 4: T, 5: T }, smallLeaves);
  expect(await run(rules, {})).toMatchObject({ outcome: 'FALSE' });
  expect(await run(rules, { confId: 5 })).toMatchObject({ outcome: 'TRUE', process: '[5:Yes:T:0]' });
  expect(await run(rules, { ruleId: 1, confId: 2 })).toMatchObject({
    outcome: 'TRUE',
    process: '[4:Yes:T:0][2:Any:T:0]',
  });
  expect(await run(rules, { ruleId: 1, confId: 5 })).toMatchObject({
    outcome: 'node 5 is not part of rule 1',
    process: '',
  });
  expect(await run(rules, { ruleId: 7 })).toMatchObject({ outcome: 'there is no rule 7' });
  expect(await run(rules, { confId: 7 })).toMatchObject({ outcome: 'there is no node 7' });
});

test('a circle is refused with the nodes along it, but other parts of the rule can run', async () => {
  const nodes: Nodes = { 1: { type: 1, sonIds: '2,4' }, 2: { type: 1, sonIds: '3' }, 3: { ...T, forwardId: 1 }, 4: T };
  const rules = rulesOf(nodes, smallLeaves);
  expect(rules.problems).toContain('rule 1 cannot run: its nodes go round in a circle, 1 → 2 → 3 → 1');
  expect(await run(rules)).toMatchObject({
    outcome: 'rule 1 cannot run: its nodes go round in a circle, 1 → 2 → 3 → 1',
  });
  expect(await run(rules, { ruleId: 1, confId: 4 })).toMatchObject({ outcome: 'TRUE' });
});

test('a node that cannot run is left out of its parent, and every trace says so', async () => {
  const nodes = { 1: { type: 1, sonIds: '2,3,9', forwardId: 8 }, 2: T, 3: { type: 5, confName: 'com.x.Unknown' } };
  const { outcome, process, leftOut, printedSteps } = await run(rulesOf(nodes, smallLeaves));
  expect(`${outcome} ${process}`).toBe('TRUE [2:Yes:T:0][1:And:T:0]');
  expect(leftOut).toEqual([
    'the forward condition 8 of node 1 is left out: it is not released',
    'the child 3 of node 1 is left out: the class com.x.Unknown is not registered',
    'the child 9 of node 1 is left out: it is not released',
  ]);
  expect(JSON.parse(printedSteps)).toMatchObject([
    { nodeId: 1, parent: null, outcome: 'TRUE' },
    { nodeId: 8, parent: 0, role: 'forward', outcome: 'LEFT_OUT', error: 'it is not released' },
    { nodeId: 3, parent: 0, role: 'child', outcome: 'LEFT_OUT' },
    { nodeId: 9, parent: 0, outcome: 'LEFT_OUT' },
    { nodeId: 2, parent: 0, outcome: 'TRUE' },
  ]);
});

/** One node a level, which has the next one twice: twice as many steps with each level. */
function doubling(levels: number): Nodes {
  const nodes: Nodes = { 100: T };
  for (let id = 1; id < levels; id++) nodes[id] = { type: 3, sonIds: `${id + 1},${id + 1}` };
  nodes[levels] = { type: 3, sonIds: '100,100' };
  return nodes;
}

test('a tree that shared nodes make endless ends when its time is up', async () => {
  const { ending } = await run(rulesOf(doubling(40), smallLeaves), { timeoutMs: 1000 });
  expect(ending).toMatchObject({ kind: 'failed', error: expect.any(Stopped) });
});

test('of a run with more steps the first 10,000 are kept', async () => {
  const { outcome, steps, process } = await run(rulesOf(doubling(14), smallLeaves), { timeoutMs: 250_000 });
  expect(outcome).toBe('TRUE');
  expect(steps.length).toBe(10_000);
  expect(process.length).toBeLessThan(1_100_000);
});

test('a tree deeper than the stack runs to its end', async () => {
  const nodes: Nodes = { 50000: T };
  for (let id = 1; id < 50_000; id++) nodes[id] = { type: 1, sonIds: `${id + 1}` };
  const { outcome } = await run(rulesOf(nodes, smallLeaves), { withSteps: false, timeoutMs: 20_000 });
  expect(outcome).toBe('TRUE');
});

test('a run that is stopped goes no further, whatever its nodes would absorb', async () => {
  const ran: string[] = [];
  let aborted = false;
  const leaves: Leaves = {
    ...smallLeaves,
    Waits: class {
      async doFlow(service: { signal: AbortSignal }): Promise<boolean> {
        const { signal } = service;
        await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
        aborted = true;
        return true;
      }
    },
    Note: class {
      doNone(): void {
        ran.push('note');
      }
    },
  };
  const nodes = {
    1: { type: 1, sonIds: '2,3', errorState: 1 },
    2: { type: 5, confName: 'Waits', errorState: 1 },
    3: { type: 7, confName: 'Note' },
  };
  const execution = execute(
    rulesOf(nodes, leaves),
    { ruleId: 1n, confId: null, ts: null, data: {} },
    { withSteps: true, timeoutMs: 5000 },
  );
  execution.run.stop('nobody waits any more');
  const ending = await execution.ended;
  expect(ending).toMatchObject({ kind: 'failed', error: expect.any(Stopped) });
  expect({ ran, aborted }).toEqual({ ran: [], aborted: true });
  expect(execution.run.steps?.list.map(({ outcome }) => outcome)).toEqual(['UNFINISHED', 'TRUE']);
});

test('steps say what each leaf read and wrote, before and after, to the letter', async () => {
  const leaves: Leaves = {
    Twice: class {
      doNone(service: {
        get(key: string): unknown;
        put(key: string, value: unknown): void;
        putDeep(key: string, value: unknown): void;
      }): void {
        service.get('cost');
        service.get('cost');
        service.get('missing');
        service.put('cost', 1);
        service.put('cost', 2);
        service.get('cost');
        service.putDeep('a.b', 9007199254740993n);
      }
    },
  };
  const { printedSteps } = await run(rulesOf({ 1: { type: 7, confName: 'Twice' } }, leaves), {
    input: '{"cost":0.10}',
  });
  expect(printedSteps.replace(/"(start|ms)":[\d.]+/g, '"$1":0')).toBe(
    '[{"nodeId":1,"name":"Twice","role":"root","parent":null,"outcome":"NONE","inverted":false,"start":0,"ms":0,' +
      '"reads":[{"key":"cost","value":0.10},{"key":"missing"}],' +
      '"writes":[{"key":"cost","before":0.10,"after":2},{"key":"a.b","deep":true,"after":9007199254740993}]}]',
  );
});

test('a value too long for a trace is named by its size', async () => {
  const leaves: Leaves = {
    Reads: class {
      doNone(service: { get(key: string): unknown }): void {
        service.get('long');
        service.get('deep');
      }
    },
  };
  const long = JSON.stringify('x'.repeat(9000));
  const deep = '['.repeat(180) + ']'.repeat(180);
  const { printedSteps } = await run(rulesOf({ 1: { type: 7, confName: 'Reads' } }, leaves), {
    input: `{"long":${long},"deep":${deep}}`,
  });
  expect(JSON.parse(printedSteps)[0].reads).toEqual([
    { key: 'long', valueSize: 9002 },
    { key: 'deep', valueSize: 360 },
  ]);
});
