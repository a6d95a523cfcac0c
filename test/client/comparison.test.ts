import { expect, test } from 'vitest';
import { leafNodesOf } from '../../src/client/analyzer/leaf-nodes.ts';
import { createRegistry } from '../../src/client/leaves/registry.ts';

class SpentAtLeast {
  min = 100;
  doFlow(): boolean {
    return this.min > 0;
  }
}
class GiveCoupon {
  amount = 1;
  doResult(): boolean {
    return this.amount > 0;
  }
}
const comparison = { key: 'cost', is: '>=', field: 'min' } as const;

test('how a condition decides is published when its author declares it, and only then', () => {
  const registry = createRegistry({ 'a.Declared': { leaf: SpentAtLeast, comparison }, 'a.Plain': SpentAtLeast });
  const [declared, plain] = leafNodesOf(registry, () => {});
  expect(declared?.comparison).toEqual(comparison);
  expect(plain).not.toHaveProperty('comparison');
});

test('a comparison with a field that the class does not have stops the start, and is named', () => {
  const wrong = { ...comparison, field: 'least' };
  expect(() => createRegistry({ 'a.B': { leaf: SpentAtLeast, comparison: wrong } })).toThrow(
    'comparison.field of a.B: the class has no field least',
  );
});

test('what it comes to without a value is published, and may be a field of the class', () => {
  const missing = { ...comparison, missing: 'min' };
  const [declared] = leafNodesOf(createRegistry({ 'a.B': { leaf: SpentAtLeast, comparison: missing } }), () => {});
  expect(declared?.comparison).toEqual(missing);
  expect(() =>
    createRegistry({ 'a.B': { leaf: SpentAtLeast, comparison: { ...comparison, missing: 'most' } } }),
  ).toThrow('comparison.missing of a.B: the class has no field most');
});

test('only a condition compares', () => {
  expect(() => createRegistry({ 'a.B': { leaf: GiveCoupon, comparison } })).toThrow(
    'only a condition (doFlow) compares',
  );
});
