import { describe, expect, test } from 'vitest';
import type { Data } from '../../../src/client/engine/data/data.ts';
import { noOrigins, toExact } from '../../../src/client/engine/data/values.ts';
import { describeLeaf } from '../../../src/client/leaves/leaf.ts';
import { createRegistry } from '../../../src/client/leaves/registry.ts';
import { printAnswer } from '../../../src/client/print-answer.ts';
import { createRuleSet } from '../../../src/client/rules/rule-set.ts';
import { releasedOf } from '../../../src/client/runs/load-objects.ts';
import { runRule } from '../../../src/client/runs/run-rule.ts';
import { isExactObject } from '../../../src/shared/contract/json/raw-number.ts';
import { type Json, readJson } from '../../../src/shared/json-tree/read-json.ts';
import { readResult } from '../../../src/shared/reasoning/result.ts';
import type { Mark } from '../../../src/shared/reasoning/trace/mark.ts';
import { replayResult } from '../../../src/shared/reasoning/trace/replay-result.ts';
import { type Comparison, comparisons, occurrencesOf, type TreeNode } from '../../../src/shared/reasoning/tree.ts';
import { type SmallestChange, smallestChange } from '../../../src/shared/reasoning/what-if/smallest-change.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

const compared = (id: number, key: string, is: Comparison['is'], value: string, more: Partial<TreeNode> = {}) =>
  leaf(id, {
    keys: [{ key, direction: 'read', dynamic: false, nested: key.includes('.'), valueType: 'Double' }],
    settings: [{ field: 'to', name: null, value, configured: true }],
    comparison: { key, is, field: 'to' },
    ...more,
  });
const gives = (id: number, more: Partial<TreeNode> = {}) => node(id, 'LeafResult', [], more);

function changeFor(root: TreeNode, input: string, process: string) {
  const occurrences = occurrencesOf(root);
  const { replay } = replayResult(readResult(JSON.stringify({ success: true, process })), occurrences);
  const read = readJson(input);
  const asked = { occurrences, marks: replay.marks, tracesReads: false, ranAt: 0 };
  const found = smallestChange({ ...asked, input: read.kind === 'ok' ? read.root : null }, { decision: 'TRUE' });
  return (
    found && {
      changes: found.changes.map(({ key, after, other }) => `${key}=${other ? 'other' : after}`).join(' '),
      assumed: found.assumed.map((at) => at.node.id).join(),
    }
  );
}

describe('the smallest change that makes a rule TRUE', () => {
  const spend = compared(2, 'cost', '>=', '100');

  test('names every key that has to change, and the consequences that count as TRUE', () => {
    const root = node(1, 'And', [spend, compared(3, 'uid', '=', '9007199254740993'), gives(4)]);
    expect(changeFor(root, '{"cost":5,"uid":1}', '[2:A:F:0][1:And:F:0]')).toEqual({
      changes: 'cost=100 uid=9007199254740993',
      assumed: '4',
    });
  });

  test('takes one key before two, and then the fewest characters', () => {
    const both = node(1, 'Any', [
      node(5, 'And', [spend, compared(3, 'uid', '=', '2')]),
      compared(4, 'level', '>', '3'),
    ]);
    expect(changeFor(both, '{"cost":5,"uid":1,"level":1}', '[2:A:F:0][5:And:F:0][4:A:F:0][1:Any:F:0]')?.changes).toBe(
      'level=4',
    );
    const either = node(1, 'Any', [compared(2, 'cost', '>=', '100'), compared(3, 'uid', '=', '2')]);
    expect(changeFor(either, '{"cost":5,"uid":1}', '[2:A:F:0][3:A:F:0][1:Any:F:0]')?.changes).toBe('uid=2');
  });

  test('keeps decimal places, and whole numbers whole', () => {
    const more = compared(2, 'cost', '>', '100');
    expect(changeFor(node(1, 'And', [more]), '{"cost":99.50}', '[2:A:F:0][1:And:F:0]')?.changes).toBe('cost=100.01');
    const [key] = more.keys;
    if (!key) throw new Error('no key');
    const whole = { ...compared(2, 'level', '>=', '2.5'), keys: [{ ...key, key: 'level', valueType: 'Integer' }] };
    expect(changeFor(node(1, 'And', [whole]), '{"level":1}', '[2:A:F:0][1:And:F:0]')?.changes).toBe('level=3');
  });

  test('turns inverted nodes around, and leads into objects', () => {
    const root = node(1, 'And', [compared(2, 'vip.city', 'in', '["Paris"]', { inverse: true })]);
    expect(changeFor(root, '{"vip":{"city":"Paris"}}', '[2:A:T-I:0][1:And:F:0]')?.changes).toBe('vip.city=other');
  });

  test.each([
    ['another leaf reads the key that would change', [spend, leaf(3, { keys: spend.keys })], '[2:A:F:0][1:And:F:0]'],
    ['a leaf that did not run declares nothing', [spend, leaf(3)], '[2:A:F:0][1:And:F:0]'],
    [
      'another node writes what is compared',
      [node(3, 'LeafNone', [], { keys: spend.keys.map((key) => ({ ...key, direction: 'write' as const })) }), spend],
      '[3:W:N:0][2:A:F:0][1:And:F:0]',
    ],
    ['the run is not what the tree says', [compared(2, 'cost', '<', '100')], '[2:A:F:0][1:And:F:0]'],
  ])('nothing is said where %s', (_, children, process) => {
    expect(changeFor(node(1, 'And', children), '{"cost":5}', process)).toBeNull();
  });
});

/* Two hundred rules by chance: what is computed is run by the engine of the SDK, and nothing smaller does. */

class Compared {
  key = '';
  is: Comparison['is'] = '=';
  to: unknown = null;
  doFlow(service: Data): boolean {
    const value = service.get(this.key);
    if (value === undefined) return false;
    if (Array.isArray(this.to)) return this.to.includes(value) === (this.is === 'in');
    if (typeof value === 'string') return (value === this.to) === (this.is === '=');
    const [one, other] = [Number(value), Number(this.to)];
    const holds = {
      '>=': one >= other,
      '<=': one <= other,
      '>': one > other,
      '<': one < other,
      '=': one === other,
      '!=': one !== other,
    };
    return Reflect.get(holds, this.is);
  }
}
class IsOdd {
  doFlow(service: Data): boolean {
    return Number(service.get('a')) % 2 !== 0;
  }
}
class Gives {
  doResult(service: Data): boolean {
    service.put('given', true);
    return true;
  }
}
class LooksUp {
  doNone(service: Data): void {
    service.get('b');
  }
}
const registry = createRegistry({ Compared: describeLeaf({ leaf: Compared }), IsOdd, Gives, LooksUp });
const TYPES = ['And', 'Any', 'All', 'None', 'True', 'P-And', 'P-Any', 'P-All', 'P-None', 'P-True'];
const NUMBERS: Record<string, number> = {
  None: 0,
  And: 1,
  True: 2,
  All: 3,
  Any: 4,
  'P-None': 8,
  'P-And': 9,
  'P-True': 10,
  'P-All': 11,
  'P-Any': 12,
};
const KEYS = ['a', 'b', 'c', 'd'];
const CITIES = ['Paris', 'Rome', 'Oslo'];

type Chance = () => number;
function chanceOf(seed: number): Chance {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function ruleByChance(chance: Chance, declaresAll: boolean) {
  const files: Record<string, unknown>[] = [];
  const pick = <T>(all: readonly T[]) => all[Math.floor(chance() * all.length)] as T;
  let last = 0;
  const make = (depth: number, mayForward: boolean): TreeNode => {
    const id = ++last;
    const inverse = chance() < 0.15;
    const forward = mayForward && chance() < 0.15 ? make(0, false) : null;
    const common = { id, inverse, ...(forward && { forwardId: Number(forward.id) }) };
    const options = { inverse, forward };
    if (depth > 0) {
      const type = pick(TYPES);
      const children = Array.from({ length: 1 + Math.floor(chance() * 4) }, () =>
        make(chance() < 0.5 ? 0 : depth - 1, true),
      );
      files.push({ ...common, type: NUMBERS[type], sonIds: children.map((child) => child.id).join(',') });
      return node(id, type, children, options);
    }
    const kind = chance();
    if (kind < 0.12) {
      files.push({ ...common, type: 6, confName: 'Gives' });
      return gives(id, options);
    }
    if (kind < 0.2) {
      files.push({ ...common, type: 7, confName: 'LooksUp' });
      return node(id, 'LeafNone', [], options);
    }
    if (!declaresAll && kind < 0.3) {
      files.push({ ...common, type: 5, confName: 'IsOdd' });
      return leaf(id, options);
    }
    const city = chance() < 0.25;
    const key = city ? 'city' : pick(KEYS);
    const is = city ? pick(['=', '!=', 'in', 'not-in'] as const) : pick(comparisons);
    const one = () => (city ? pick(CITIES) : Math.floor(chance() * 12));
    const to = is === 'in' || is === 'not-in' ? [one(), one()] : one();
    files.push({ ...common, type: 5, confName: 'Compared', confField: { key, is, to } });
    return compared(id, key, is, JSON.stringify(to), options);
  };
  const root = make(3, false);
  const released = releasedOf({ rules: [{ id: 1, confId: Number(root.id) }], nodes: files });
  return { root, rules: createRuleSet(released, registry) };
}

function exact(value: Record<string, unknown>) {
  const read = toExact(value, noOrigins, 'it');
  if (!isExactObject(read)) throw new Error('no object');
  return read;
}

type Rule = ReturnType<typeof ruleByChance>;
type Input = Record<string, number | string>;

async function run({ rules }: Rule, input: Input) {
  const request = { ruleId: 1n, confId: null, ts: 1n, data: exact(input) };
  const around = { ruleTimeoutMs: 5000, handleError: undefined, onError: () => {} };
  const { execution, ending } = await runRule(rules, request, around, { withSteps: true });
  const text = printAnswer({ mockId: 'm', executeAt: 1, rules: { version: 1n, digest: null }, execution, ending });
  return { outcome: ending.kind === 'done' ? ending.outcome : null, text };
}

const jsonOf = (input: Input): Json => {
  const read = readJson(JSON.stringify(input));
  if (read.kind === 'bad') throw new Error(read.message);
  return read.root;
};

function inputByChance(chance: Chance): Input {
  const numbers = Object.fromEntries(KEYS.map((key) => [key, Math.floor(chance() * 12)]));
  return { ...numbers, city: CITIES[Math.floor(chance() * 3)] ?? '' };
}

function changed(input: Input, { changes }: SmallestChange): Input {
  return { ...input, ...Object.fromEntries(changes.map(({ key, after }) => [key, JSON.parse(after)])) };
}

const gridOf = (key: string) =>
  key === 'city' ? [...CITIES, '?'] : Array.from({ length: 14 }, (_, index) => index - 1);

/** Whether some other values of fewer than `size` keys make the rule TRUE. */
async function isTrueWithFewer(rule: Rule, input: Input, size: number): Promise<boolean> {
  const keys = [...KEYS, 'city'];
  const tryFrom = async (from: number, left: number, now: Input): Promise<boolean> => {
    if ((await run(rule, now)).outcome === 'TRUE') return true;
    if (left === 0) return false;
    for (let index = from; index < keys.length; index++)
      for (const value of gridOf(keys[index] ?? ''))
        if (await tryFrom(index + 1, left - 1, { ...now, [keys[index] ?? '']: value })) return true;
    return false;
  };
  return tryFrom(0, size - 1, input);
}

const hasRun = (mark: Mark | undefined) => mark !== undefined && mark.outcome !== 'REJECTED';

describe('of rules by chance', () => {
  test.each([true, false])(
    'what is computed is what the engine does, and nothing smaller does (all declared: %s)',
    async (all) => {
      const chance = chanceOf(all ? 7 : 11);
      const counts = { found: 0, several: 0, none: 0 };
      for (let tried = 0; counts.found < 200; tried++) {
        expect(tried).toBeLessThan(4000);
        const rule = ruleByChance(chance, all);
        const input: Input = Object.fromEntries(KEYS.map((key) => [key, Math.floor(chance() * 12)]));
        input.city = CITIES[Math.floor(chance() * 3)] ?? '';
        const { outcome, text } = await run(rule, input);
        if (outcome === 'TRUE') continue;
        const occurrences = occurrencesOf(rule.root);
        const result = readResult(text);
        const { replay, trace } = replayResult(result, occurrences);
        expect(trace).toBe('steps');
        const asked = { occurrences, marks: replay.marks, tracesReads: true, input: jsonOf(input), ranAt: 1 };
        const found = smallestChange(asked, { decision: 'TRUE' });
        if (found === null) {
          counts.none++;
          if (all) expect(await isTrueWithFewer(rule, input, 2), `a way that was not found: ${text}`).toBe(false);
          continue;
        }
        counts.found++;
        if (found.changes.length > 1) counts.several++;
        expect((await run(rule, changed(input, found))).outcome, `${JSON.stringify(found.changes)} of ${text}`).toBe(
          'TRUE',
        );
        if (all && found.changes.length < 4)
          expect(
            await isTrueWithFewer(rule, input, found.changes.length),
            `less than ${JSON.stringify(found.changes)} of ${text}`,
          ).toBe(false);
      }
      expect(counts.several).toBeGreaterThan(10);
    },
  );

  test('a node that did not run is reached', async () => {
    const chance = chanceOf(13);
    for (let found = 0, tried = 0; found < 100; tried++) {
      expect(tried).toBeLessThan(2000);
      const rule = ruleByChance(chance, true);
      const input = inputByChance(chance);
      const occurrences = occurrencesOf(rule.root);
      const read = (text: string) => replayResult(readResult(text), occurrences).replay.marks;
      const marks = read((await run(rule, input)).text);
      const missed = occurrences.find((at) => !hasRun(marks.get(at)));
      if (!missed) continue;
      const asked = { occurrences, marks, tracesReads: true, input: jsonOf(input), ranAt: 1 };
      const change = smallestChange(asked, { reached: missed });
      if (change === null) continue;
      found++;
      expect(hasRun(read((await run(rule, changed(input, change))).text).get(missed))).toBe(true);
    }
  });
});
