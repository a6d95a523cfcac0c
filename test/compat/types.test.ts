import { mkdir, mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { buildClient } from '../client/support/build-client.ts';
import { compileUsage, matcherDeclarations, matcherUsage } from '../client/support/matcher-types.ts';

const root = join(import.meta.dirname, '../..');
const tsc = join(root, 'node_modules/.bin/tsc');
let folder: string;

beforeAll(async () => {
  await buildClient();
  await mkdir(join(root, 'dist'), { recursive: true });
  folder = await mkdtemp(join(root, 'dist', 'types-'));
});

/** What the compiler says of a program of a user, strictly, against the built package. */
async function compile(name: string, code: string): Promise<string> {
  const path = join(folder, `${name.replace(/\W+/g, '-')}.ts`);
  await writeFile(path, code);
  return compileUsage(tsc, path);
}

const described = `
import { createRuleClient, type Data, describeLeaf, leavesFor, loadRules, testRule } from 'rule-server/client';
type Order = { cost: number; coupon?: { amount: number } };
class SpentAtLeast {
  min = 100;
  doFlow(service: Data<Order>): boolean {
    return (service.get('cost') ?? 0) >= this.min;
  }
}
class Untyped {
  key = 'cost';
  doFlow(service: Data): boolean {
    return service.get(this.key) !== undefined;
  }
}
const { result } = leavesFor<Order>();
const GiveCoupon = result({ amount: 10 }, (service, { amount }) => {
  service.put('coupon', { amount });
  return true;
});
export const leaves = {
  'shop.SpentAtLeast': describeLeaf({ leaf: SpentAtLeast, name: 'Spent at least', fields: { min: { name: 'Amount' } } }),
  'shop.GiveCoupon': describeLeaf({ leaf: GiveCoupon, fields: { amount: { name: 'Amount' } } }),
  'shop.Untyped': describeLeaf({ leaf: Untyped, fields: { key: {} } }),
  'shop.Bare': describeLeaf({ leaf: Untyped }),
};
const data = { cost: 120 };
`;

describe('describeLeaf compiles, without <…>, in', () => {
  test.each([
    ['testRule', `await testRule('rules/1', { leaves, ruleId: 1, data });`],
    [
      'testRule with a mock',
      `await testRule('rules/1', { leaves, ruleId: 1, data, mocks: { 'shop.GiveCoupon': () => true } });`,
    ],
    ['loadRules', `await (await loadRules('rules/1', { leaves })).run({ ruleId: 1, data });`],
    [
      'createRuleClient',
      `await (await createRuleClient({ app: 1, sharedDir: '.', leaves })).run({ ruleId: 1, data });`,
    ],
    [
      'createRuleClient that is written out in place',
      `await createRuleClient({
        ...{ app: 1, sharedDir: '.' },
        leaves: { A: describeLeaf({ leaf: SpentAtLeast, fields: { min: { name: 'Amount' } } }), B: Untyped },
      });`,
    ],
    [
      'all three, of one table',
      `await testRule('rules/1', { leaves, ruleId: 1, data });
      await loadRules('rules/1', { leaves, strict: true });
      await createRuleClient({ app: 1, sharedDir: '.', leaves, strict: true });`,
    ],
  ])('%s', async (name, code) => {
    expect(await compile(name, `${described}${code}\n`)).toBe('');
  });
});

describe('describeLeaf compiles where the type of the data is written out, in', () => {
  test.each([
    ['testRule of a type', `await testRule<Order>('rules/1', { leaves, ruleId: 1, data });`],
    ['loadRules of a type', `await loadRules<Order>('rules/1', { leaves });`],
    ['createRuleClient of a type', `await createRuleClient<Order>({ app: 1, sharedDir: '.', leaves });`],
  ])('%s', async (name, code) => {
    expect(await compile(name, `${described}${code}\n`)).toBe('');
  });
});

describe('still refused by the compiler is', () => {
  test.each([
    ['a misspelt field', `describeLeaf({ leaf: SpentAtLeast, fields: { mim: {} } });`],
    [
      'a misspelt field in place',
      `await loadRules('rules/1', { leaves: { A: { leaf: SpentAtLeast, fields: { mim: {} } } } });`,
    ],
    ['a class that is no leaf', `describeLeaf({ leaf: class { value = 1 } });`],
    ['a leaf of other data', `await loadRules<{ name: string }>('rules/1', { leaves });`],
  ])('%s', async (name, code) => {
    expect(await compile(name, `${described}// @ts-expect-error: refused\n${code}\n`)).toBe('');
  });
});

describe('the matchers have types in', () => {
  test('vitest, as the README declares them', async () => {
    const said: string[] = [];
    for (const [index, declaration] of (await matcherDeclarations()).entries())
      said.push(await compile(`vitest-${index}`, `${matcherUsage('vitest')}${declaration}\n`));
    expect(said).toContain('');
  });

  test('node:test', async () => {
    const code = `import { testRule } from 'rule-server/client';
      import { assertRule } from 'rule-server/client/testing';
      import { test } from 'node:test';
      test('who spends 110 is let through', async () => {
        const result = await testRule('rules/1', { leaves: {}, ruleId: 1, data: { cost: 120 } });
        assertRule.outcome(result, 'TRUE');
        assertRule.data(result, { cost: 120, coupon: undefined });
        assertRule.steps(result, { SpentAtLeast: 'TRUE', 12: null });
        // @ts-expect-error: no outcome
        assertRule.outcome(result, 'MAYBE');
      });\n`;
    expect(await compile('node-test', code)).toBe('');
  });
});
