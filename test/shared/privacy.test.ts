import { expect, it } from 'vitest';
import { createMask } from '../../src/shared/privacy/mask.ts';

const mask = () => createMask([{ path: 'card.number', steps: ['card', 'number'] }]);

it.each(['value', 'before', 'after'])('what a node found or left under a hidden path is hidden: its "%s"', (name) => {
  const answer = mask().answer(`{"steps":[{"key":"card.number","${name}":"4711"}]}`);
  expect(JSON.parse(answer)).toEqual({ steps: [{ key: 'card.number', [name]: '***' }] });
});

it('text that was cut is hidden whole: it may hold a hidden value', () => {
  expect(mask().data('{"card":{"number":"47')).toBe('"***"');
});
