import { describe, expect, test } from 'vitest';
import { type Json, readJson } from '../../src/shared/json-tree/read-json.ts';
import { factsOf } from '../../src/shared/reasoning/facts.ts';
import type { NodeTrace, Outcome } from '../../src/shared/reasoning/trace/node-trace.ts';
import { leaf, placesOf } from './support/rule-tree.ts';

const nodeTrace = (outcome: Outcome, more: Partial<NodeTrace> = {}): NodeTrace => ({
  ...{ outcome, inverted: false, start: null, ms: 0, late: false, error: null, instead: null, reads: [], writes: [] },
  ...more,
});
const json = (text: string): Json => {
  const read = readJson(text);
  if (read.kind === 'bad') throw new Error(read.fault.problem);
  return read.root;
};
const settings = [
  { field: 'min', name: null, value: '100', configured: true },
  { field: 'unknown', name: null, value: 'true', configured: false },
];
const cost = { key: 'cost', direction: 'read', dynamic: false, nested: false, valueType: 'Double' } as const;
const declared = leaf(2, { settings, keys: [cost], comparison: { key: 'cost', is: '>=', field: 'min' } });
const silent = leaf(2, { settings, keys: [cost] });
const at = (root: typeof declared) => placesOf(root).at(2);

describe('what a leaf decided by', () => {
  test('is the setting that its client says it compares with, and the value that would make it TRUE', () => {
    const facts = factsOf(at(declared), nodeTrace('FALSE'), json('{"cost":5}'));
    expect(facts.settings.map(({ field }) => field)).toEqual(['min']);
    expect(facts.wanted).toEqual({ key: 'cost', is: '>=', value: '100' });
  });

  test('of an inverted leaf the opposite would make it TRUE', () => {
    expect(factsOf(at(declared), nodeTrace('FALSE', { inverted: true }), null).wanted?.is).toBe('<');
  });

  test.each([
    nodeTrace('TRUE'),
    nodeTrace('NONE'),
    nodeTrace('ERROR'),
    nodeTrace('FALSE', { error: 'broke, counts as FALSE' }),
  ])('nothing is claimed of a leaf that is not FALSE by its own comparison: $outcome', (other) => {
    expect(factsOf(at(declared), other, null).wanted).toBeNull();
  });

  test('without a declaration all settings stand beside what was read, and nothing is claimed', () => {
    const facts = factsOf(at(silent), nodeTrace('FALSE'), json('{"cost":5}'));
    expect(facts.settings).toEqual(settings);
    expect(facts.wanted).toBeNull();
  });

  test('a flat trace does not say what was read: the input does, as such', () => {
    const facts = factsOf(at(silent), nodeTrace('FALSE'), json('{"cost":5.10}'));
    expect(facts.from).toBe('input');
    expect(facts.reads).toMatchObject([{ key: 'cost', value: { kind: 'number', text: '5.10' } }]);
    const reads = [{ key: 'cost', value: json('7'), size: null }];
    expect(factsOf(at(silent), nodeTrace('FALSE', { reads }), json('{"cost":5}'))).toMatchObject({
      from: 'trace',
      reads,
    });
  });
});
