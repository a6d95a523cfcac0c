import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { sha256 } from '../../../src/shared/reasoning/trace/sha256.ts';

test('the digest of a saved run is SHA-256, at every length of a block and in every script', () => {
  const texts = [...Array.from({ length: 200 }, (_, length) => 'a'.repeat(length)), '规则 😀 \u{10ffff} é'.repeat(999)];
  const expected = texts.map((text) => createHash('sha256').update(text).digest('base64url'));
  expect(texts.map(sha256)).toEqual(expected);
});
