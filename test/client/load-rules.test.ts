import { chmod, readdir } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Data, loadRules, type RuleObjects, testRule } from '../../src/client/client.ts';
import { createRuleFiles } from '../support/rule-files.ts';

let files: Awaited<ReturnType<typeof createRuleFiles>>;
let given: unknown[];
beforeEach(async () => {
  files = await createRuleFiles();
  given = [];
});
afterEach(() => files.remove());

class SpentAtLeast {
  min = 100;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}
class GiveCoupon {
  amount = 10;
  doResult(service: Data): boolean {
    given.push(service.get('uid'));
    service.put('coupon', this.amount);
    return true;
  }
}
const leaves = { 'shop.SpentAtLeast': SpentAtLeast, 'shop.GiveCoupon': { leaf: GiveCoupon, alias: 'coupon' } };

const objects: RuleObjects = {
  rules: [{ id: 1, confId: 1 }],
  nodes: [
    { id: 1, type: 1, sonIds: '2,3' },
    { id: 2, type: 5, confName: 'shop.SpentAtLeast', confField: { min: 50 } },
    { id: 3, type: 6, confName: 'coupon', confField: '{"amount":20}' },
  ],
};
const request = { ruleId: 1, data: { uid: 9007199254740993n, cost: 60 } };

describe('rules without a client', () => {
  test('run from objects', async () => {
    const rules = await loadRules(objects, { leaves });
    expect(await rules.run(request)).toMatchObject({ outcome: 'TRUE', data: { coupon: 20 } });
    expect(given).toEqual([9007199254740993n]);
    expect(rules.problems()).toEqual([]);
  });

  test('run from a folder that nobody may write to, and write nothing', async () => {
    await files.rule(1, '"confId":1');
    await files.node(1, '"type":5,"confName":"shop.SpentAtLeast","confField":"{\\"min\\":50}"');
    for (const folder of ['7/bases', '7/confs', '7']) await chmod(files.pathOf(folder), 0o555);
    const before = await readdir(files.sharedDir, { recursive: true });
    const rules = await loadRules(files.pathOf(7), { leaves });
    expect((await rules.run(request)).outcome).toBe('TRUE');
    expect(await readdir(files.sharedDir, { recursive: true })).toEqual(before);
    for (const folder of ['7', '7/bases', '7/confs']) await chmod(files.pathOf(folder), 0o755);
  });

  test('are refused when there is no such folder, or something is no rule', async () => {
    await expect(loadRules(files.pathOf('nowhere'), { leaves })).rejects.toThrow('there is no directory');
    const wrong = { ...objects, nodes: [...objects.nodes, { id: 4, type: 'five' }] };
    await expect(loadRules(wrong, { leaves })).rejects.toThrow('nodes[3]: cannot be read: type must be an integer');
  });

  test('run dry: no consequence happens, and each is told', async () => {
    const rules = await loadRules(objects, { leaves });
    const dry = await rules.dryRun(request);
    expect(dry).toMatchObject({ outcome: 'TRUE', stubbed: ['shop.GiveCoupon'], data: { cost: 60 } });
    expect(dry.data).not.toHaveProperty('coupon');
    expect(given).toEqual([]);
    expect(await rules.dryRun({ ruleId: 1, data: { cost: 1 } })).toMatchObject({ outcome: 'FALSE', stubbed: [] });
    await rules.run(request);
    expect(given).toHaveLength(1);
  });
});

describe('a scene', () => {
  const rules = [
    { id: 12, confId: 2, scenes: 'checkout' },
    { id: 3, confId: 3, scenes: 'welcome, checkout' },
    { id: 4, confId: 3, scenes: 'check' },
  ];

  test('runs all its rules by id, each on data of its own', async () => {
    const loaded = await loadRules({ ...objects, rules }, { leaves });
    const results = await loaded.runScene({ scene: 'checkout', data: { uid: 7, cost: 60 } });
    expect(results).toMatchObject([
      { ruleId: 3n, outcome: 'TRUE', data: { uid: 7, cost: 60, coupon: 20 } },
      { ruleId: 12n, outcome: 'TRUE' },
    ]);
    expect(results[1]?.data).toEqual({ uid: 7, cost: 60 });
    expect(given).toEqual([7]);
  });

  test('that no rule has runs nothing', async () => {
    const loaded = await loadRules({ ...objects, rules }, { leaves });
    expect(await loaded.runScene({ scene: 'chekout' })).toEqual([]);
  });
});

test('options that are unknown are named, with the nearest one', async () => {
  const misspelt = { leaves, strikt: true };
  await expect(loadRules(objects, misspelt)).rejects.toThrow('there is no option strikt; did you mean strict?');
});

describe('a test of a rule', () => {
  test('replaces leaves by name or alias, with their configured fields', async () => {
    const result = await testRule(objects, {
      ...{ leaves, ...request, withSteps: true },
      mocks: {
        coupon(service, leaf) {
          service.put('mocked', Reflect.get(leaf, 'amount'));
          return false;
        },
      },
    });
    expect(result).toMatchObject({ outcome: 'FALSE', data: { mocked: 20 } });
    expect(result.steps).toEqual([
      { nodeId: 1n, name: 'And', outcome: 'FALSE', error: null },
      { nodeId: 2n, name: 'SpentAtLeast', outcome: 'TRUE', error: null },
      { nodeId: 3n, name: 'GiveCoupon', outcome: 'FALSE', error: null },
    ]);
    expect(given).toEqual([]);
  });

  test('refuses a mock of a leaf that is not there', async () => {
    const mocks = { 'shop.GiveCupon': () => true };
    await expect(testRule(objects, { leaves, ...request, mocks })).rejects.toThrow(
      'there is no leaf shop.GiveCupon to mock; did you mean shop.GiveCoupon?',
    );
  });
});
