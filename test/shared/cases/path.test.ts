import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePath, printPath } from '../../../src/shared/cases/path.ts';

it('reads a.b[0]["c.d"]', () => expect(parsePath('a.b[0]["c.d"]')).toEqual(['a', 'b', 0, 'c.d']));

it.each(['', '.', 'a.', '.a', 'a..b', 'a[', 'a[x]', 'a["x]', 'a[-1]', 'a b', '["\\q"]'])('refuses %j', (text) =>
  expect(parsePath(text)).toBeNull(),
);

it('reads every path it prints', () => {
  const step = fc.oneof(
    fc.string({ unit: 'binary' }).filter((text) => text.isWellFormed()),
    fc.nat({ max: 99_999 }),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 1 }), (steps) => {
      expect(parsePath(printPath(steps))).toEqual(steps);
    }),
  );
});
