import { leavesFor, testRule } from 'PACKAGE';
import { assertRule } from 'PACKAGE/testing';
import { test } from 'node:test';

type Order = { cost: number; coupon?: number };
const { flow } = leavesFor<Order>();
const leaves = {
  'shop.SpentAtLeast': flow({ min: 100 }, (service, { min }) => service.double('cost', 0) >= min),
};

test('who spends 110 is let through', async () => {
  const result = await testRule<Order>('rules/1', { leaves, ruleId: 1, data: { cost: 120 } });
  assertRule.outcome(result, 'TRUE');
  assertRule.data(result, { cost: 120, coupon: undefined });
  assertRule.steps(result, { SpentAtLeast: 'TRUE' });
});
