import { AssertionError } from 'node:assert';
import { expect, test } from 'vitest';
import { type Data, type RuleObjects, testRule } from '../../src/client/client.ts';
import { assertRule, type RuleMatchers, ruleMatchers } from '../../src/client/testing.ts';

declare module 'vitest' {
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> extends RuleMatchers<R> {}
}
expect.extend(ruleMatchers);

class SpentAtLeast {
  min = 100;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}
class GiveCoupon {
  amount = 10;
  doResult(service: Data): boolean {
    service.put('coupon', { amount: this.amount });
    service.put('old', undefined);
    return true;
  }
}
const leaves = { SpentAtLeast, GiveCoupon };
const objects: RuleObjects = {
  rules: [{ id: 1, confId: 1 }],
  nodes: [
    { id: 1, type: 1, sonIds: '2,2,3' },
    { id: 2, type: 5, confName: 'SpentAtLeast' },
    { id: 3, type: 6, confName: 'GiveCoupon', forwardId: 2 },
  ],
};
const ran = (cost: unknown) => testRule(objects, { leaves, ruleId: 1, data: { cost, old: 1 } });

test('a rule is expected to come to something, to change data, and to take a way', async () => {
  const result = await ran(120);
  expect(result).toHaveOutcome('TRUE');
  expect(result).toHaveData({ coupon: { amount: expect.any(Number) }, cost: 120, old: undefined });
  expect(result).toHaveSteps({ SpentAtLeast: 'TRUE', 3: 'TRUE', 2: ['TRUE', 'TRUE', 'TRUE'] });
  expect(result).not.toHaveOutcome('FALSE');
  expect(await ran(1)).toHaveSteps({ SpentAtLeast: ['FALSE'], GiveCoupon: null });
});

test('what differs is told, with the way the rule took', async () => {
  const result = await ran(1);
  const way = '\n  And (1): FALSE\n  SpentAtLeast (2): FALSE';
  expect(() => expect(result).toHaveOutcome('TRUE')).toThrow(`the rule came to FALSE, expected was TRUE${way}`);
  expect(() => expect(result).toHaveData({ coupon: { amount: 1 }, old: 1 })).toThrow(
    'the data differs: coupon is absent, not {"amount":1}',
  );
  expect(() => expect(result).toHaveSteps({ GiveCoupon: 'TRUE' })).toThrow(
    `the steps differ: GiveCoupon came to nothing (it did not run), not TRUE${way}`,
  );
  expect(() => expect(result).not.toHaveOutcome('FALSE')).toThrow('expected not to be');
});

test('a run that failed has no outcome, whatever is expected', async () => {
  const failed = await ran('much');
  expect(failed).not.toHaveOutcome(null);
  expect(() => expect(failed).toHaveOutcome('TRUE')).toThrow('it failed with "cost" holds a string where a number');
});

test('node:test has the same as assertions', async () => {
  const result = await ran(120);
  assertRule.outcome(result, 'TRUE');
  assertRule.data(result, { coupon: { amount: 10 }, old: undefined });
  assertRule.steps(result, { GiveCoupon: 'TRUE' });
  expect(() => assertRule.outcome(result, null)).toThrow(AssertionError);
  expect(() => assertRule.data(result, { coupon: 1 })).toThrow('coupon is {"amount":10}, not 1');
  const { steps: _steps, ...without } = result;
  expect(() => assertRule.steps(without, {})).toThrow('ask for them with withSteps');
});

test('options of a test that are unknown are named', async () => {
  const misspelt = { leaves, ruleId: 1, moks: {} };
  await expect(testRule(objects, misspelt)).rejects.toThrow('there is no option moks; did you mean mocks?');
});
