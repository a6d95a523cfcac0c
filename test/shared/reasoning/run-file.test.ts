import { expect, test } from 'vitest';
import { checksumOf } from '../../../src/shared/reasoning/trace/run-file.ts';

test('a saved run with another character anywhere, with one more or less, or with two that changed places has another checksum', () => {
  const text = '{"input":{"cost":90,"城市":"里昂 😀"},"min":100}'.repeat(20);
  const [before, changed] = [checksumOf(text), new Set<string>()];
  for (const at of text.split('').keys()) {
    const [head, own, next, tail] = [text.slice(0, at), text[at] ?? '', text[at + 1] ?? '', text.slice(at + 2)];
    changed.add(checksumOf(`${head}${String.fromCharCode(own.charCodeAt(0) ^ 1)}${next}${tail}`));
    changed.add(checksumOf(`${head}${own}0${next}${tail}`)).add(checksumOf(head + next + tail));
    if (next !== '' && own !== next) changed.add(checksumOf(`${head}${next}${own}${tail}`));
  }
  expect([before.length, changed.has(before)]).toEqual([16, false]);
  expect(changed.size).toBeGreaterThan(3 * text.length);
});
