import { expect, it } from 'vitest';
import { median } from '../../bench/median.ts';

it('a median is the middle, or the mean of both middles', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(() => median([])).toThrow('nothing was measured');
});
