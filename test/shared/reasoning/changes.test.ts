import { describe, expect, test } from 'vitest';
import { changesBetween, changeWords } from '../../../src/shared/reasoning/changes.ts';
import type { TimeWindow, TreeNode } from '../../../src/shared/reasoning/tree.ts';
import { type ReasonKey, reasonEnglish } from '../../../src/shared/reasoning/words/english.ts';
import { format, type Parameters } from '../../../src/shared/reasoning/words/format.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

const say = (key: ReasonKey, parameters: Parameters = {}) => format(reasonEnglish[key], parameters);
const always: TimeWindow = { type: 'always', start: null, end: null };
const spring: TimeWindow = { type: 'between', start: '1', end: '2' };
type Rule = { name: string | null; timeWindow: TimeWindow };
const gate: Rule = { name: 'gate', timeWindow: always };

const between = (before: TreeNode | null, now: TreeNode | null, rules: [Rule | null, Rule | null] = [gate, gate]) =>
  changeWords(changesBetween({ rule: rules[0], root: before }, { rule: rules[1], root: now }), say);

const spent = (values = '{"min":100}', more: Partial<TreeNode> = {}) => leaf(2, { label: 'spent', values, ...more });
const and = (...children: TreeNode[]) => node(1, 'And', children, { label: 'gate' });
const below = (id: number, ...children: TreeNode[]) => node(id, 'Any', children, { label: `n${id}` });

describe('what changed between two trees of a rule', () => {
  test.each<[string, TreeNode, TreeNode, string]>([
    ['nothing', and(spent()), and(spent()), ''],
    ['a setting', and(spent()), and(spent('{"min":80}')), '#2 spent (min 100 → 80)'],
    ['a setting that came', and(spent('{}')), and(spent()), '#2 spent (min – → 100)'],
    ['a setting that went', and(spent()), and(spent('{}')), '#2 spent (min 100 → –)'],
    [
      'the last digit of a setting',
      and(spent('{"min":9007199254740993}')),
      and(spent('{"min":9007199254740992}')),
      '#2 spent (min 9007199254740993 → 9007199254740992)',
    ],
    ['settings that are only written in another way', and(spent('{"a":[1, 2]}')), and(spent('{ "a" : [1,2] }')), ''],
    [
      'settings in another order',
      and(spent('{"min":1,"max":2}')),
      and(spent('{"max":2,"min":1}')),
      '', // they say the same
    ],
    [
      'a node that is turned around',
      and(spent()),
      and(spent(undefined, { inverse: true })),
      '#2 spent (turned around)',
    ],
    ['a time window', and(spent()), and(spent(undefined, { timeWindow: spring })), '#2 spent (time window)'],
    ['a name', and(spent()), and(spent(undefined, { label: 'paid' })), '#2 paid (name)'],
    ['a class', and(spent()), and(spent(undefined, { className: 'a.Paid' })), '#2 spent (class)'],
    ['a relation', and(spent()), node(1, 'Any', [spent()], { label: 'gate' }), '#1 gate (class)'],
    [
      'what it counts as when it fails',
      and(spent()),
      and(spent(undefined, { errorState: '1' })),
      '#2 spent (what it counts as when it fails)',
    ],
    [
      'a condition',
      and(spent()),
      and(spent(undefined, { forward: leaf(9, { label: 'vip' }) })),
      '#2 spent (condition), #9 vip (new)',
    ],
    ['whether it can run', and(spent()), and(spent(undefined, { state: 'missing' })), '#2 spent (whether it can run)'],
    ['a new node', and(spent()), and(spent(), leaf(3, { label: 'vip' })), '#3 vip (new)'],
    ['a node that was removed', and(spent(), leaf(3, { label: 'vip' })), and(spent()), '#3 vip (removed)'],
    ['the order of children', and(spent(), leaf(3)), and(leaf(3), spent()), '#1 gate (order of its children)'],
    [
      'a node that stands elsewhere',
      and(below(4, spent()), below(5)),
      and(below(4), below(5, spent())),
      '#2 spent (moved)',
    ],
    [
      'a node that stands in one more place',
      and(below(4, spent()), below(5)),
      and(below(4, spent()), below(5, spent())),
      '#2 spent (moved)',
    ],
    [
      'children that came and went, and no order',
      and(leaf(3, { label: 'a' }), spent()),
      and(spent(), leaf(4, { label: 'b' })),
      '#4 b (new), #3 a (removed)',
    ],
    [
      'two things of one node',
      and(spent()),
      and(spent('{"min":80}', { inverse: true })),
      '#2 spent (min 100 → 80, turned around)',
    ],
  ])('%s', (_, before, now, words) => {
    expect(between(before, now)).toBe(words);
  });

  test.each<[string, Rule | null, string]>([
    ["the rule's own window", { ...gate, timeWindow: spring }, 'the rule itself (time window)'],
    ["the rule's own name", { ...gate, name: 'door' }, 'the rule itself (name)'],
    ['no rule on one side', null, ''],
  ])('%s', (_, now, words) => {
    expect(between(and(spent()), and(spent()), [gate, now])).toBe(words);
  });

  test('of a tree that is gone everything is removed, of one that came everything is new', () => {
    expect(between(and(spent()), null)).toBe('#1 gate (removed), #2 spent (removed)');
    expect(between(null, and(spent()))).toBe('#1 gate (new), #2 spent (new)');
  });

  test('names four changes and says that there are more', () => {
    const all = [10, 11, 12, 13, 14].map((id) => leaf(id, { label: 'new one' }));
    expect(between(and(), and(...all))).toBe(
      '#10 new one (new), #11 new one (new), #12 new one (new), #13 new one (new), …',
    );
    const many = (n: number) => spent(JSON.stringify({ a: n, b: n, c: n, d: n, e: n }));
    expect(between(and(many(1)), and(many(2)))).toBe('#2 spent (a 1 → 2, b 1 → 2, c 1 → 2, d 1 → 2, …)');
  });
});
