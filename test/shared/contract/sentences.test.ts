import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { sentences } from '../../../src/shared/contract/endings/sentences.ts';
import { everySentence } from '../../support/every-sentence.ts';

/** Sentences that others are made of. */
const PARTS = ['badRequest', 'others', 'sceneUnknown', 'cannotRunDry'];

test('every sentence has a sample', () => {
  const samples = readFileSync(join(import.meta.dirname, '../../support/every-sentence.ts'), 'utf8');
  const names = Object.keys(sentences).filter((name) => !PARTS.includes(name));
  expect(names.filter((name) => !samples.includes(`sentences.${name}(`))).toEqual([]);
});

describe('the sentence of an execution without an answer', () => {
  it.each(everySentence)('says once whether it ran, and so does mayHaveRun: $error', ({ error, mayHaveRun }) => {
    const didNot = error.match(/(did not run|was not run|nothing was sent)/gi) ?? [];
    const may = error.match(/(may have run|may run|it ran|the rule ran|runs at most once)/gi) ?? [];
    expect(mayHaveRun ? may.length : didNot.length).toBeGreaterThan(0);
    if (!mayHaveRun) expect(may.filter((text) => !/at most once/.test(text))).toEqual([]);
  });

  it.each(everySentence)('says no thing twice: $error', ({ error }) => {
    const parts = error.split(/[.:;] /).map((part) => part.toLowerCase().replace(/\W+/g, ' ').trim());
    expect(new Set(parts).size).toBe(parts.length);
    expect(error.match(/\bonline\b/g)?.length ?? 0).toBeLessThan(2);
  });
});
