import { mkdtemp, readdir, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RuleClient } from '../../src/client/client.ts';
import { betaLeaves } from '../../src/client/demo/leaves.ts';
import { writeDemoRules } from '../../src/client/demo/write-rules.ts';
import { DEMO_APP, startDemoClient } from '../../src/client/demo.ts';
import { createRegistry } from '../../src/client/leaves/registry.ts';
import { openRuleSource } from '../../src/client/rules/rule-source.ts';
import { run, withoutTimes } from './support/run-rule.ts';

let sharedDir: string;
let demo: RuleClient;
const errors: unknown[] = [];
beforeAll(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'demo-'));
  demo = await startDemoClient({ sharedDir, onError: (error) => errors.push(error) });
});
afterAll(() => demo.close());

test('the campaign gives a coupon to who spends 100 or more', async () => {
  expect(demo.problems()).toEqual([]);
  expect(await demo.run({ ruleId: 1, data: { uid: 1, cost: 120 } })).toMatchObject({
    ...{ success: true, outcome: 'TRUE', warnings: [] },
    data: { uid: 1, cost: 120, coupon: { amount: 20, reason: 'spent at least 100' } },
  });
  expect(await demo.run({ ruleId: 1, data: { uid: 1, cost: 99.99 } })).toMatchObject({
    ...{ outcome: 'FALSE', data: { uid: 1, cost: 99.99 } },
  });
});

test('its condition, its inversion and its time window show in the trace', async () => {
  const processOf = async (data: Record<string, unknown>, ts = Date.UTC(2026, 6, 1)) =>
    withoutTimes((await demo.run({ ruleId: 1, ts, data })).process);
  expect(await processOf({ uid: 13, cost: 120 })).toBe('[2:SpendThreshold:T:0][3:BlockedUser:T-I:0][1:And:F:0]');
  expect(await processOf({ cost: 120, city: 'Rome' })).toContain('[5:InCity:F:0][4:GiveCoupon:R-F]');
  expect(await processOf({ cost: 120, level: 2 })).toContain('[8:MemberLevel:T:0][7:GivePoints:T:0][9:GivePoints:O]');
  expect(await processOf({ cost: 120 }, Date.UTC(2026, 2, 15))).toContain('[7:GivePoints:R-F][9:GivePoints:T:0]');
});

test('one rule fails, one takes its failure for a no, one waits for two things at once', async () => {
  expect(await demo.run({ ruleId: 4, data: { cost: 120 } })).toMatchObject({ success: false, outcome: null });
  expect(await demo.run({ ruleId: 5, data: { cost: 120 } })).toMatchObject({
    success: true,
    data: { coupon: { amount: 5 } },
  });
  const { process, data } = await demo.run({ ruleId: 2, data: { uid: 7, level: 1 } });
  expect(withoutTimes(process)).toBe(
    '[23:MemberLevel:T:0][22:LookUpProfile:N:0][21:P-All:T:0][24:GiveCoupon:T:0][20:And:T:0]',
  );
  expect(data).toMatchObject({ profile: { uid: 7, since: 2019 } });
});

test('it is there three times: on the trunk and in two lanes, which answer in their own way', async () => {
  expect((await readdir(join(sharedDir, 'clients', String(DEMO_APP), 'lane'))).sort()).toEqual(['beta', 'next']);
  const registry = createRegistry(betaLeaves);
  const rules = await openRuleSource({ directory: join(sharedDir, String(DEMO_APP)), registry, onProblems: () => {} });
  expect((await run(rules.current(), { input: '{"cost":120}' })).data).toContain('"coupon":{"amount":25');
  expect(errors).toEqual([]);
});

test('rules that somebody changed are left as they are', async () => {
  const path = join(sharedDir, String(DEMO_APP), 'confs', '2.json');
  const changed = (await readFile(path, 'utf8')).replace('100', '50');
  await writeFile(path, changed);
  await writeDemoRules(sharedDir, DEMO_APP);
  expect(await readFile(path, 'utf8')).toBe(changed);
});
