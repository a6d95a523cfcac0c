import { expect, test } from 'vitest';
import { keysOf, touchedBy } from './found.ts';
import { styles } from './styles/styles.ts';

test('there are at least 120 of them, each by a name of its own', () => {
  expect(new Set(styles.map(({ style }) => style)).size).toBe(styles.length);
  expect(styles.length).toBeGreaterThanOrEqual(120);
});

test.each(styles)('as it is written: $style', (style) => {
  expect(keysOf(style)).toEqual([...style.keys].sort());
});

test.each(styles)('what runs touches what is said: $style', async (style) => {
  const isOpen = style.keys.some((key) => /[?{<]/.test(key));
  const unsaid = [...(await touchedBy(style))].filter((key) => !isOpen && !style.keys.includes(key));
  expect(unsaid.filter((key) => !style.keys.includes(`@${key}`))).toEqual([]);
});
