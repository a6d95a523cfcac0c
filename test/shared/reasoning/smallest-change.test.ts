import { describe, expect, test } from 'vitest';
import { readJson } from '../../../src/shared/json-tree/read-json.ts';
import { readResult } from '../../../src/shared/reasoning/result.ts';
import { replayResult } from '../../../src/shared/reasoning/trace/replay-result.ts';
import { type Comparison, occurrencesOf, type TreeNode } from '../../../src/shared/reasoning/tree.ts';
import { wayToOther } from '../../../src/shared/reasoning/what-if/smallest-change.ts';
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
  const asked = { occurrences, nodeTraces: replay.nodeTraces, tracesReads: false, ranAt: 0 };
  const found = wayToOther({ ...asked, input: read.kind === 'ok' ? read.root : null });
  return (
    found && {
      changes: found.changes.map(({ key, after, other }) => `${key}=${other ? 'other' : after}`).join(' '),
      assumed: found.assumed.map((at) => at.node.id).join(),
      undeclared: found.undeclared.map((at) => at.node.id).join(),
    }
  );
}

describe('the smallest change that makes a rule come to the other result', () => {
  const spend = compared(2, 'cost', '>=', '100');
  const city = (missing?: Comparison['missing']) =>
    compared(3, 'city', 'in', '["Lyon"]', {
      comparison: { key: 'city', is: 'in', field: 'to', ...(missing !== undefined && { missing }) },
    });

  test('names every key that has to change, and the consequences that count as TRUE', () => {
    const root = node(1, 'And', [spend, compared(3, 'uid', '=', '9007199254740993'), gives(4)]);
    expect(changeFor(root, '{"cost":5,"uid":1}', '[2:A:F:0][1:And:F:0]')).toEqual({
      changes: 'cost=100 uid=9007199254740993',
      assumed: '4',
      undeclared: '',
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

  test('a result that was TRUE would be FALSE', () => {
    const root = node(1, 'And', [spend, compared(3, 'level', '>', '3'), gives(4)]);
    const found = changeFor(root, '{"cost":500,"level":4}', '[2:A:T:0][3:A:T:0][4:G:T:0][1:And:T:0]');
    expect(found?.changes).toBe('level=3');
  });

  test('what is only read below a node that is always TRUE needs no value', () => {
    const points = node(5, 'True', [gives(7, { forward: compared(8, 'level', '>=', '2') })]);
    const root = node(1, 'And', [city(true), points]);
    expect(changeFor(root, '{"city":"Rome"}', '[3:A:F:0][1:And:F:0]')).toEqual({
      changes: 'city="Lyon"',
      assumed: '',
      undeclared: '',
    });
  });

  test.each([
    ['declared as it is', true, 'cost=100', ''],
    ['declared otherwise', false, 'cost=100 city="Lyon"', ''],
    ['declared by a number that it does not compare', { number: '5' }, 'cost=100 city="Lyon"', '3'],
    ['not declared', undefined, 'cost=100 city="Lyon"', '3'],
  ])('a key without a value is left alone where that does: %s', (_, missing, changes, undeclared) => {
    const root = node(1, 'And', [spend, city(missing)]);
    expect(changeFor(root, '{"cost":5}', '[2:A:F:0][1:And:F:0]')).toMatchObject({ changes, undeclared });
  });

  test('two neighbours have a value between them', () => {
    const root = node(1, 'And', [compared(2, 'cost', '>', '100'), compared(3, 'cost', '<', '101')]);
    expect(changeFor(root, '{"cost":5}', '[2:A:F:0][1:And:F:0]')?.changes).toBe('cost=100.5');
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
