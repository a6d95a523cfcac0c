import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { rulesOf, run, withoutTimes } from '../support/run-rule.ts';
import { leafFile, smallLeaves } from '../support/small-leaves.ts';

const { T, F, E } = leafFile;
const later = (ms: number, says: boolean) => ({ type: 5, confName: 'Later', confField: { ms, says } });

test('children wait side by side, not one after the other', async () => {
  let begun = 0;
  const allBegan = Promise.withResolvers<void>();
  class Meets {
    async doFlow(): Promise<boolean> {
      if (++begun === 3) allBegan.resolve();
      await allBegan.promise;
      return true;
    }
  }
  const meets = { type: 5, confName: 'Meets' };
  const nodes = { 1: { type: 9, sonIds: '2,3,4' }, 2: meets, 3: meets, 4: meets };
  expect((await run(rulesOf(nodes, { Meets }))).outcome).toBe('TRUE');
});

test('ANY ends with the first TRUE, and a straggler is noted after its parent', async () => {
  const nodes = {
    1: { type: 1, sonIds: '2,5' },
    2: { type: 12, sonIds: '3,4' },
    3: T,
    4: later(10, false),
    5: later(60, true),
  };
  const { outcome, process } = await run(rulesOf(nodes, smallLeaves));
  expect(outcome).toBe('TRUE');
  expect(process).toBe('[3:Yes:T:0][2:P-Any:T:0][4:Later:F:0][5:Later:T:0][1:And:T:0]');
});

test('AND ends with the first FALSE that arrives', async () => {
  const nodes = { 1: { type: 9, sonIds: '2,3' }, 2: later(2000, true), 3: later(1, false) };
  const { outcome, steps } = await run(rulesOf(nodes, smallLeaves));
  expect(outcome).toBe('FALSE');
  expect(steps.map((step) => step.outcome)).toEqual(['FALSE', 'UNFINISHED', 'FALSE']);
});

test.each([8, 9, 10, 11])('an error of a child is the error of type %i', async (type) => {
  expect((await run(rulesOf({ 1: { type, sonIds: '2,3' }, 2: T, 3: E }, smallLeaves))).outcome).toBe('kaboom');
  const late = { 1: { type, sonIds: '2,3' }, 2: T, 3: { type: 5, confName: 'LaterBoom' } };
  expect((await run(rulesOf(late, smallLeaves))).outcome).toBe('later kaboom');
});

test('an error after the matter was settled is heard of in the trace only', async () => {
  const nodes = { 1: { type: 9, sonIds: '2,3,4' }, 2: F, 3: E, 4: { type: 5, confName: 'LaterBoom' } };
  const { outcome, process, execution } = await run(rulesOf(nodes, smallLeaves));
  expect(`${outcome} ${process}`).toBe('FALSE [2:No:F:0][3:Boom:S:0][1:P-And:F:0]');
  await sleep(20);
  expect(withoutTimes(execution.run.process())).toContain('[4:LaterBoom:S:0]');
});

test('an error can be absorbed by the parallel node itself', async () => {
  expect((await run(rulesOf({ 1: { type: 11, sonIds: '2,3', errorState: 1 }, 2: F, 3: E }, smallLeaves))).outcome).toBe(
    'TRUE',
  );
});
