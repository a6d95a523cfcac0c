import { describe, expect, it } from 'vitest';
import { createRefusals } from '../../../src/shared/cases/document/refusal.ts';
import { readIgnored, withoutNoise } from '../../../src/shared/cases/judging/noise.ts';
import { differingPaths } from '../../../src/shared/conclusions/differing-values.ts';
import { parseExact } from '../../../src/shared/contract/json/exact-json.ts';
import { stringifyExact } from '../../../src/shared/contract/json/raw-number.ts';

const without = (json: string, ...paths: string[]) => stringifyExact(withoutNoise(parseExact(json), paths));
const between = (one: string, other: string) => differingPaths(parseExact(one), parseExact(other));

describe('data without noise', () => {
  it.each([
    ['{"a":{"id":1,"b":1.50},"id":2}', ['a.id'], '{"a":{"b":1.50},"id":2}'],
    ['{"items":[{"id":1,"n":1},{"id":2,"n":2}]}', ['items[*].id'], '{"items":[{"n":1},{"n":2}]}'],
    ['{"items":[{"id":1},{"id":2}]}', ['items[1].id'], '{"items":[{"id":1},{}]}'],
    ['{"items":[1,9007199254740993]}', ['items[0]'], '{"items":[null,9007199254740993]}'],
    ['{"c.d":1,"c":{"d":2}}', ['["c.d"]'], '{"c":{"d":2}}'],
    ['{"*":1,"a":[2]}', ['a[*]'], '{"*":1,"a":[null]}'],
    ['{"a":1}', ['b.c', 'a.b'], '{"a":1}'],
    ['{"__proto__":{"x":1},"y":2}', ['y'], '{"__proto__":{"x":1}}'],
  ])('%s without %j', (json, paths, left) => expect(without(json, ...paths)).toBe(left));

  it('what is no path is refused', () => {
    const refusals = createRefusals();
    readIgnored({ kind: 'array', raw: '["a.b","a..b","a[*",""]', at: refusals.at('ignore') });
    expect(refusals.all.map(({ field }) => field)).toEqual(['ignore[1]', 'ignore[2]', 'ignore[3]']);
  });
});

describe('what two runs differ in', () => {
  it.each([
    ['{"at":1,"n":1.0}', '{"at":2,"n":1.00}', ['at']],
    ['{"items":[{"id":1},{"id":2}]}', '{"items":[{"id":3},{"id":4}]}', ['items[*].id']],
    ['{"a":1}', '{"b":1}', ['a', 'b']],
    ['{"a":null}', '{}', ['a']],
    ['{"a":1}', '{"a":1}', []],
  ])('%s and %s', (one, other, paths) => expect(between(one, other)).toEqual(paths));

  it('is told whole, however much it is', () => {
    const many = (n: number) => JSON.stringify(Object.fromEntries(Array.from({ length: 90 }, (_, i) => [`k${i}`, n])));
    expect(between(many(1), many(2))).toHaveLength(90);
  });
});
