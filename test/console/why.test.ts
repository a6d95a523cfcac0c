import { describe, expect, test } from 'vitest';
import { skipOf } from '../../src/console/trace/visible-rows.ts';
import { readProcess } from '../../src/shared/reasoning/trace/read-process.ts';
import { replayProcess } from '../../src/shared/reasoning/trace/replay.ts';
import type { TreeNode } from '../../src/shared/reasoning/tree.ts';
import { whyOf } from '../../src/shared/reasoning/why.ts';
import { wordsOf } from '../../src/shared/reasoning/words/reason-words.ts';
import { leaf, node, placesOf } from './support/rule-tree.ts';

function run(root: TreeNode, process: string) {
  const { occurrences, at } = placesOf(root);
  const { nodeTraces } = replayProcess(occurrences, readProcess(process).entries);
  const why = whyOf(at(Number(root.id)), nodeTraces).map(({ kind, at: { node: own }, ...more }) =>
    'by' in more && more.by !== null
      ? `${kind} ${own.id} by ${Array.isArray(more.by) ? more.by.map((by) => by.node.id) : more.by.node.id}`
      : `${kind} ${own.id}`,
  );
  const skipped = (id: number) => {
    const skip = skipOf(at(id), nodeTraces);
    return skip && 'by' in skip ? `${skip.kind} ${skip.by?.node.id}` : skip?.kind;
  };
  return { why, skipped };
}

describe('why a rule came out as it did', () => {
  test('down to the leaf that stopped it', () => {
    const root = node(1, 'Any', [node(2, 'And', [leaf(41), leaf(45)])]);
    const { why, skipped } = run(root, '[41:Cost:F:0][2:And:F:0][1:Any:F:0]');
    expect(why).toEqual(['decided 1 by 2', 'stopped 2 by 41', 'leaf 41']);
    expect(skipped(45)).toBe('stopped 41');
  });

  test('a condition that was FALSE kept a node from running', () => {
    const root = node(1, 'And', [leaf(25, { forward: leaf(26) })]);
    const { why } = run(root, '[26:Age:F:0][25:Age:R-F][1:And:F:0]');
    expect(why).toEqual(['decided 1 by 25', 'rejected 25 by 26', 'leaf 26']);
  });

  test('the inversion of a leaf is part of its reason; that of a relation is one of its own', () => {
    const root = node(1, 'And', [leaf(3, { inverse: true })]);
    expect(run(root, '[3:Blocked:T-I:0][1:And:F:0]').why).toEqual(['decided 1 by 3', 'leaf 3']);
    const { occurrences, at } = placesOf(root);
    const { nodeTraces } = replayProcess(occurrences, readProcess('[3:Blocked:T-I:0][1:And:F:0]').entries);
    const reason = whyOf(at(3), nodeTraces)[0];
    expect(reason).toMatchObject({ kind: 'leaf', decision: 'TRUE', countsAs: 'FALSE' });
    if (reason) expect(wordsOf(reason, { nodeTraces, input: null }).key).toBe('why.leaf.inverted');
    const relation = node(1, 'And', [node(2, 'And', [leaf(3)], { inverse: true })]);
    const { why } = run(relation, '[3:Blocked:T:0][2:And:T-I:0][1:And:F:0]');
    expect(why).toEqual(['decided 1 by 2', 'inverted 2', 'decided 2 by 3', 'leaf 3']);
  });

  test('a failure beside the node that decided, which counts as what it is set to, is part of the reason', () => {
    const { at } = placesOf(node(1, 'Any', [leaf(2), leaf(3)]));
    const nodeTrace = { inverted: false, start: null, ms: 0, late: false, instead: null, reads: [], writes: [] };
    const nodeTraces = new Map([
      [at(1), { ...nodeTrace, outcome: 'TRUE' as const, error: null }],
      [at(2), { ...nodeTrace, outcome: 'FALSE' as const, error: 'the card was refused' }],
      [at(3), { ...nodeTrace, outcome: 'TRUE' as const, error: null }],
    ]);
    expect(whyOf(at(1), nodeTraces).map(({ kind, at: { node: own } }) => `${kind} ${own.id}`)).toEqual([
      'absorbed 2',
      'decided 1',
      'leaf 3',
    ]);
  });

  test('when all agree, all of them are named', () => {
    const root = node(1, 'And', [leaf(2), node(3, 'LeafNone'), leaf(4)]);
    expect(run(root, '[2:A:T:0][3:B:N:0][4:C:T:0][1:And:T:0]').why).toEqual(['all-held 1 by 2,4']);
    expect(run(node(1, 'Any', [leaf(2), leaf(3)]), '[2:A:F:0][3:B:F:0][1:Any:F:0]').why).toEqual([
      'none-held 1 by 2,3',
    ]);
  });

  test('when some do not agree, it is not said that all did', () => {
    // Published clients differ in what ALL makes of TRUE and FALSE together; each is right about itself.
    const root = node(1, 'All', [leaf(2), leaf(3), leaf(4)]);
    expect(run(root, '[2:A:F:0][3:B:T:0][4:C:T:0][1:All:T:0]').why).toEqual(['decided 1 by 3', 'leaf 3']);
    expect(run(root, '[2:A:F:0][3:B:F:0][4:C:T:0][1:All:F:0]').why).toEqual(['decided 1 by 2', 'leaf 2']);
  });

  test('a relation that should always come to one result, but came to that of its only child, is explained so', () => {
    const traced = (type: string, process: string) => run(node(1, type, [leaf(2)]), process).why;
    expect(traced('P-True', '[2:A:F:0][1:P-True:F:0]')).toEqual(['passed-on 1 by 2', 'leaf 2']);
    expect(traced('P-None', '[2:A:T:0][1:P-None:T:0]')).toEqual(['passed-on 1 by 2', 'leaf 2']);
    expect(traced('P-True', '[2:A:T:0][1:P-True:T:0]')).toEqual(['always 1']);
  });

  test('a relation without a result of its own is TRUE by its condition, whatever its children came to', () => {
    const root = node(1, 'None', [leaf(2), leaf(3)], { forward: leaf(4) });
    expect(run(root, '[4:C:T:0][2:A:T:0][3:B:F:0][1:None:T:0]').why).toEqual(['condition-held 1 by 4']);
  });

  test('a parallel relation does not stop at a child: the others run on', () => {
    const root = node(1, 'P-Any', [leaf(2), leaf(3)]);
    expect(run(root, '[2:A:T:0][3:B:F:0][1:P-Any:T:0]').why).toEqual(['decided 1 by 2', 'leaf 2']);
  });

  test('relations that are what they are whatever happens', () => {
    expect(run(node(1, 'True', [leaf(2)]), '[2:A:F:0][1:True:T:0]').why).toEqual(['always 1']);
    expect(run(node(1, 'None', [leaf(2)]), '[2:A:T:0][1:None:N:0]').why).toEqual(['always 1']);
    expect(run(node(1, 'All', [node(2, 'LeafNone')]), '[2:A:N:0][1:All:N:0]').why).toEqual(['no-opinion 1']);
  });

  test('a node without a say takes its condition’s', () => {
    const root = node(1, 'LeafNone', [], { forward: leaf(2) });
    expect(run(root, '[2:Age:T:0][1:Types:T:0]').why).toEqual(['condition-held 1 by 2']);
  });

  test('parallel children that are not listed are said not to be', () => {
    const { why, skipped } = run(node(1, 'P-And', [leaf(2), leaf(3)]), '[1:P-And:T:1]');
    expect(why).toEqual(['unlisted 1']);
    expect(skipped(2)).toBe('not-listed 1');
  });
});

describe('why a node did not run', () => {
  const root = node(1, 'And', [
    node(2, 'Any', [leaf(3)], { timeWindow: { type: 'before', start: null, end: '1' } }),
    leaf(4, { forward: leaf(5) }),
    node(6, 'And', [leaf(7, { state: 'missing' }), leaf(8)]),
  ]);
  const { skipped } = run(root, '[2:Any:O:0][5:Age:T:0][4:Cost:T:0][6:And:N:0][1:And:T:0]');

  test('the node above is outside its time window', () => expect(skipped(3)).toBe('out-of-time 2'));
  test('there is no such node', () => expect(skipped(7)).toBe('missing'));
  test('the client left it out', () => expect(skipped(8)).toBe('left-out'));

  test('like the one above it', () => {
    const stopped = run(node(1, 'And', [leaf(2), node(3, 'Any', [leaf(4)])]), '[2:A:F:0][1:And:F:0]');
    expect([stopped.skipped(3), stopped.skipped(4)]).toEqual(['stopped 2', 'not-run 3']);
  });
});
