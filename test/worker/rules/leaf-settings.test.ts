import { describe, expect, test } from 'vitest';
import { RawNumber, stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';
import { parseLeafNodes } from '../../../src/worker/rules/leaves/leaf-nodes.ts';
import { settingsOf } from '../../../src/worker/rules/leaves/leaf-settings.ts';

const [leaf = null] = parseLeafNodes([
  {
    clazz: 'a.B',
    type: 5,
    iceFields: [
      { field: 'min', name: 'Amount', type: 'double', value: 0 },
      { field: 'cities', type: 'list' },
    ],
    hideFields: [{ field: 'limit', type: 'long', value: '9007199254740993' }],
    comparison: { key: 'cost', is: '>=', field: 'min' },
  },
]);

describe('the settings of a leaf', () => {
  test('are what the rule configures, else the default that the client published', () => {
    expect(settingsOf(leaf, { min: new RawNumber('100.50') })).toEqual([
      { field: 'min', name: 'Amount', type: 'double', value: new RawNumber('100.50'), configured: true },
      { field: 'limit', name: null, type: 'long', value: new RawNumber('9007199254740993'), configured: false },
    ]);
    expect(settingsOf(leaf, { min: null })[0]).toMatchObject({ value: new RawNumber('0'), configured: false });
  });

  test('keep every digit in the answer', () => {
    expect(stringifyExact(settingsOf(leaf, { min: new RawNumber('0.10') }))).toContain('"value":0.10,');
  });

  test('have what nobody declares at their end, and without metadata only that', () => {
    expect(settingsOf(leaf, { other: 'x' }).map(({ field }) => field)).toEqual(['min', 'limit', 'other']);
    expect(settingsOf(null, { other: 'x' })).toEqual([
      { field: 'other', name: null, type: null, value: 'x', configured: true },
    ]);
  });
});

test.each([
  [{ key: 'cost', is: '>=', field: 'min' }, true],
  [{ key: 'cost', is: '>=', field: 'min', missing: false }, true],
  [{ key: 'cost', is: '>=', field: 'min', missing: 'unknown' }, true],
  [{ key: 'cost', is: 'roughly', field: 'min' }, false],
  [{ key: '', is: '>=', field: 'min' }, false],
  [{ key: 'cost', is: '>=' }, false],
  ['cost >= min', false],
  [undefined, false],
])('a comparison %j is understood: %s', (comparison, understood) => {
  const [published] = parseLeafNodes([{ clazz: 'a.B', type: 5, comparison }]);
  expect(published?.comparison).toEqual(understood ? comparison : null);
});
