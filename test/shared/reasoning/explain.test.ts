import { describe, expect, test } from 'vitest';
import { readJson } from '../../../src/shared/json-tree/read-json.ts';
import { readResult } from '../../../src/shared/reasoning/result.ts';
import { bareNode, type TreeNode } from '../../../src/shared/reasoning/tree.ts';
import { explain } from '../../../src/shared/reasoning/words/explain.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

const spend = leaf(2, {
  label: 'spent 100 or more',
  keys: [{ key: 'cost', direction: 'read', dynamic: false, nested: false, valueType: 'Double' }],
  settings: [{ field: 'min', name: null, value: '9007199254740993', configured: true }],
  comparison: { key: 'cost', is: '>=', field: 'min' },
});

function why(root: TreeNode, process: string, input = '{"cost":90.50}') {
  const read = readJson(input);
  const result = readResult(JSON.stringify({ success: true, process }));
  return explain({ root, result, input: read.kind === 'ok' ? read.root : null, ranAt: Date.UTC(2026, 10, 22, 9) });
}

describe('an explanation as text', () => {
  test('names what decided, the value to its last digit, and what would have been TRUE', () => {
    const root = node(1, 'And', [spend, leaf(3)], { label: 'gate' });
    expect(why(root, '[2:Spend:F:0][1:And:F:0]')).toEqual({
      outcome: 'FALSE',
      path: [
        { nodeId: '1', name: 'gate', outcome: 'FALSE' },
        { nodeId: '2', name: 'spent 100 or more', outcome: 'FALSE' },
      ],
      sentences: [
        '“gate” #1 is FALSE because “spent 100 or more” #2 is FALSE. The nodes after “spent 100 or more” #2 did not run.',
        '“spent 100 or more” #2 is FALSE: in the input, cost is 90.50, min is 9007199254740993. This node would be TRUE with cost of at least 9007199254740993.',
      ],
      change: null,
    });
  });

  test('says the smallest change for the whole result in the place of one for a node, and that nothing ran', () => {
    const uid = leaf(3, {
      keys: [{ key: 'uid', direction: 'read', dynamic: false, nested: false, valueType: 'Long' }],
      settings: [{ field: 'uid', name: null, value: '1', configured: true }],
      comparison: { key: 'uid', is: '=', field: 'uid' },
    });
    const coupon = node(4, 'LeafResult', [], { label: 'coupon' });
    const { sentences, change } = why(node(1, 'And', [spend, uid, coupon]), '[2:Spend:F:0][1:And:F:0]');
    expect(change).toEqual({
      to: 'TRUE',
      keys: [
        { key: 'cost', before: '90.50', after: '9007199254740993' },
        { key: 'uid', before: null, after: '1' },
      ],
      assumed: ['4'],
      undeclared: ['3'],
    });
    expect(sentences.at(-1)).toBe(
      'The result would be TRUE with cost = 9007199254740993, uid = 1, if “coupon” #4 comes to TRUE. This is computed, not run. Fewer keys may do: “LeafFlow” #3 does not declare what it comes to without a value.',
    );
    expect(sentences.join(' ')).not.toContain('This node would be');
  });

  test('says no setting and no "would be" of a tree without settings', () => {
    const { sentences } = why(bareNode(node(1, 'And', [spend])), '[2:Spend:F:0][1:And:F:0]');
    expect(sentences.join(' ')).not.toMatch(/min|would be/);
  });

  describe('of a leaf that its settings contradict', () => {
    const told = (cost: string, outcome: 'TRUE' | 'FALSE', more: Partial<TreeNode> = {}) => {
      const min = { field: 'min', name: null, value: '80', configured: true };
      const root = { ...spend, settings: [min], ...more };
      const step = { nodeId: 2, name: 'Spend', outcome, reads: [{ key: 'cost', value: 'COST' }] };
      const result = readResult(JSON.stringify({ success: true, steps: [step] }).replace('"COST"', cost));
      return explain({ root, result, input: null, ranAt: 0 }).sentences.join(' ');
    };

    test('says that they were others when it ran, and none of them', () => {
      expect(told('90', 'FALSE')).toBe(
        '“spent 100 or more” #2 is FALSE: cost is 90. By its settings it would have come out otherwise, so they were others when it ran.',
      );
      expect(told('79.99', 'TRUE')).toMatch(/cost is 79\.99\. By its settings it would have come out otherwise/);
    });

    test('does not say so where they fit, to the last digit', () => {
      expect(told('79.99', 'FALSE')).toMatch(/min is 80\. This node would be TRUE with cost of at least 80\./);
      expect(told('80.0', 'TRUE')).toMatch(/min is 80\./);
    });

    test('does not say so of a client that may have rounded', () => {
      const min = { field: 'min', name: null, value: '9007199254740993', configured: true };
      expect(told('9007199254740992', 'TRUE', { settings: [min] })).toMatch(/min is 9007199254740993/);
    });
  });

  test('tells a time window, and when the rule ran', () => {
    const window = { type: 'after' as const, start: String(Date.UTC(2027, 0, 1)), end: null };
    const { sentences } = why(node(1, 'And', [leaf(2, { timeWindow: window })]), '[2:Spend:O][1:And:N:0]');
    expect(sentences.join(' ')).toContain('NONE');
    const { sentences: whole } = why(node(1, 'And', [leaf(2)], { timeWindow: window }), '[1:And:O]');
    expect(whole).toEqual([
      expect.stringContaining(
        'its time window is from 2027-01-01T00:00:00.000Z, and the run was as of 2026-11-22T09:00:00.000Z',
      ),
    ]);
  });

  test('knows nothing where there is no trace, and where it does not fit', () => {
    const nothing = { outcome: null, path: [], sentences: [], change: null };
    expect(why(node(1, 'And', [spend]), '')).toEqual(nothing);
    expect(why(node(1, 'And', [spend]), '[77:Other:T:0]')).toEqual(nothing);
  });
});
