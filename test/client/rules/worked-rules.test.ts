import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { type Data, type LoadedRules, loadRules } from '../../../src/client/client.ts';

class SpentAtLeast {
  min = 0;
  doFlow(service: Data): boolean {
    return service.double('cost', 0) >= this.min;
  }
}
class IsMember {
  doFlow(service: Data): boolean {
    return service.boolean('member', false);
  }
}
class GiveCoupon {
  amount = 10;
  doResult(service: Data): boolean {
    service.put('coupon', this.amount);
    return true;
  }
}
class GivePoints {
  doResult(service: Data): boolean {
    const hasSpent = service.double('cost', 0) > 0;
    if (hasSpent) service.put('points', 1);
    return hasSpent;
  }
}
class LookUp {
  doNone(service: Data): void {
    if (service.boolean('down', false)) throw new Error('it is down');
    service.put('found', true);
  }
}
const classes = { SpentAtLeast, IsMember, GiveCoupon, GivePoints, LookUp };
const leaves = Object.fromEntries(Object.entries(classes).map(([name, leaf]) => [`com.example.${name}`, leaf]));

let nodes: Record<string, unknown>[];
let rules: LoadedRules;
beforeAll(async () => {
  const text = await readFile(join(import.meta.dirname, '../../../docs/use/rule-files.md'), 'utf8');
  const [, worked = ''] = text.split('## Worked rules');
  nodes = worked.split('\n').flatMap((line) => (line.startsWith('{ "id"') ? [JSON.parse(line)] : []));
  rules = await loadRules({ rules: [], nodes }, { leaves, strict: true });
});

const inMarch = Date.UTC(2026, 2, 15);
test.each([
  [1, { cost: 120 }, 'TRUE', { coupon: 20 }],
  [1, { cost: 99 }, 'FALSE', {}],
  [10, { cost: 1 }, 'TRUE', { points: 1 }],
  [10, {}, 'TRUE', { coupon: 20 }],
  [15, { cost: 1 }, 'TRUE', { points: 1, coupon: 20 }],
  [20, { cost: 120 }, 'TRUE', { found: true }],
  [20, { cost: 1 }, 'FALSE', { found: true }],
  [21, {}, 'NONE', { found: true }],
  [22, {}, 'NONE', { found: true }],
  [23, {}, 'TRUE', {}],
  [30, { cost: 120 }, 'TRUE', { coupon: 10 }],
  [30, { cost: 1 }, 'FALSE', {}],
  [40, { member: true }, 'FALSE', {}],
  [40, {}, 'TRUE', {}],
  [50, { cost: 120 }, 'TRUE', { coupon: 20 }],
  [60, { down: true }, 'NONE', {}],
  [70, {}, 'NONE', { found: true }],
  [71, { cost: 120, member: true }, 'FALSE', {}],
  [72, { cost: 1, member: true }, 'TRUE', {}],
  [73, { cost: 120, member: true }, 'TRUE', {}],
  [74, { cost: 1 }, 'TRUE', {}],
])('node %d of the documentation, given %j, comes to %s', async (confId, data, outcome, put) => {
  const result = await rules.run({ confId, data, ts: inMarch });
  expect(result).toMatchObject({ outcome, warnings: [], error: undefined });
  expect(result.data).toEqual({ ...data, ...put });
});

test('outside of March its node has no opinion', async () => {
  expect(await rules.run({ confId: 50, data: { cost: 120 }, ts: 0 })).toMatchObject({ outcome: 'NONE' });
});

test('there is one of every type', () => {
  expect(rules.problems()).toEqual([]);
  expect([...new Set(nodes.map(({ type }) => type))].sort((a, b) => Number(a) - Number(b))).toEqual([
    ...Array(13).keys(),
  ]);
});
