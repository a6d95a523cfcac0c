import { describe, expect, test } from 'vitest';
import { decidedBy } from '../../../src/shared/reasoning/trace/decided-by.ts';
import { occurrencesOf } from '../../../src/shared/reasoning/tree.ts';
import { leaf, node } from '../../console/support/rule-tree.ts';

const tree = occurrencesOf(
  node(1, 'And', [leaf(2, { label: 'adult' }), node(3, 'Any', [leaf(4), leaf(5, { inverse: true })])]),
);

describe('the node that decided', () => {
  test.each([
    ['the leaf that stopped it', { 1: ['FALSE'], 2: ['FALSE'] }, { id: '2', name: 'adult' }],
    [
      'the relation of which every child said no',
      { 1: ['FALSE'], 2: ['TRUE'], 3: ['FALSE'], 4: ['FALSE'], 5: ['FALSE'] },
      { id: '3' },
    ],
    ['an inverted leaf', { 1: ['FALSE'], 2: ['TRUE'], 3: ['FALSE'], 4: ['NONE'], 5: ['FALSE'] }, { id: '5' }],
    ['the leaf that failed', { 1: ['ERROR'], 2: ['ERROR'] }, { id: '2' }],
  ])('is %s', (_what, nodes, decided) => {
    expect(decidedBy(tree, nodes)).toMatchObject(decided);
  });

  test('is not told where it is not known which occurrence of a node ran, or nothing is known', () => {
    const twice = occurrencesOf(node(1, 'Any', [leaf(2), leaf(2)]));
    expect(decidedBy(twice, { 1: ['TRUE'], 2: ['TRUE'] })).toBeNull();
    expect(decidedBy(twice, { 1: ['TRUE'], 2: ['FALSE', 'TRUE'] })).toMatchObject({ id: '2' });
    expect(decidedBy(tree, {})).toBeNull();
    expect(decidedBy([], { 1: ['TRUE'] })).toBeNull();
  });
});
