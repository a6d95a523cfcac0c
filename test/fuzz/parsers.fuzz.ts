import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readExecuteRequest } from '../../src/api/calls/read-request.ts';
import { parseExact, scanJson } from '../../src/shared/contract/json/exact-json.ts';
import { MAX_DEPTH } from '../../src/shared/contract/json/json-scan.ts';
import { type ExactValue, integerOf, RawNumber, stringifyExact } from '../../src/shared/contract/json/raw-number.ts';
import { dialects } from '../../src/worker/files/dialects/dialects.ts';
import { judgeResult } from '../../src/worker/files/results/result-file.ts';
import { expectedAnswer, isText } from './expected-answer.ts';
import { exactInteger, expectedRequest } from './expected-request.ts';
import { deepText, numberText, valueText } from './json-text.ts';
import { content, mutated, unchanged } from './mutations.ts';
import { kindOf, numbersIn, readReference } from './reference.ts';
import { requestBody } from './request-body.ts';
import { MOCK_ID, resultText } from './result-text.ts';
import { tryCases } from './try-cases.ts';

const texts = fc.oneof(
  { weight: 3, arbitrary: unchanged(valueText) },
  { weight: 4, arbitrary: mutated(valueText) },
  { weight: 1, arbitrary: unchanged(deepText) },
  { weight: 1, arbitrary: mutated(deepText) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 30 }).map((bytes) => content(Buffer.from(bytes))) },
);

it('JSON is what the platform takes for it, and keeps its members as they were written', () =>
  tryCases('JSON texts', texts, compareScans, { served: false, runs: 12_000 }));

it('integers are those of arithmetic', () =>
  tryCases(
    'numbers',
    numberText,
    (raw) => {
      const exact = exactInteger(raw);
      const inReach = exact !== undefined && exact < 10n ** 40n && exact > -(10n ** 40n);
      expect(integerOf(raw)).toBe(inReach ? exact : undefined);
    },
    { served: false, runs: 3000 },
  ));

it('a request is taken for what it is, or refused', () =>
  tryCases(
    'requests',
    requestBody,
    ({ bytes }) => {
      const expected = expectedRequest(bytes);
      const read = readExecuteRequest(bytes);
      if (read.kind === 'bad') {
        expect(read.problems.length).toBeGreaterThan(0);
        expect(expected.kind).toBe('refused');
        return;
      }
      const { app, ruleId, confId, ts, 'the service': input } = read.request;
      const ids = Object.entries({ ruleId, confId, ts }).filter(([, id]) => id !== null);
      expect(expected).toMatchObject({
        kind: 'taken',
        app,
        ids: ids.map(([key, id]) => `"${key}":${id},`).join(''),
        input,
      });
    },
    { served: false, runs: 8000 },
  ));

it('a result is an answer to the letter, or none', () =>
  tryCases(
    'results',
    fc.tuple(resultText, fc.constantFrom('rule', 'ice')),
    ([{ bytes }, name]) => {
      const dialect = dialects[name];
      const expected = expectedAnswer(bytes, MOCK_ID, dialect.dataField);
      const judgement = judgeResult(bytes, MOCK_ID, dialect);
      expect(judgement.kind === 'answer').toBe(expected !== null);
      if (judgement.kind === 'answer' && expected) {
        expect(isText(judgement.body, expected.text), `${judgement.body} is not ${expected.text}`).toBe(true);
      } else if (judgement.kind === 'incomplete') expect(readReference(bytes).kind).toBe('bad');
    },
    { served: false, runs: 8000 },
  ));

function compareScans({ bytes }: { bytes: Buffer }): void {
  const text = bytes.toString('utf8');
  const depthAndKeys = readReference(Buffer.from(text));
  const scanned = scanJson(text);
  if (depthAndKeys.kind === 'good') {
    expect(scanned).toMatchObject({ kind: 'complete', type: kindOf(depthAndKeys.raw), raw: depthAndKeys.raw });
    if (scanned.kind !== 'complete') return;
    expect(scanned.duplicates).toEqual([]);
    expect(scanned.members.map(({ key, raw }) => ({ key, raw }))).toEqual(depthAndKeys.members);
    for (const { kind, raw } of scanned.members) expect(kind).toBe(kindOf(raw));
    const parsed = parseExact(text);
    expect(rounded(parsed)).toEqual(depthAndKeys.value);
    expect(numbersIn(stringifyExact(parsed)).sort()).toEqual(numbersIn(text).sort());
  } else if (depthAndKeys.why.endsWith('twice')) {
    expect(scanned).toMatchObject({ kind: 'complete', duplicates: expect.arrayContaining([expect.any(String)]) });
  } else {
    expect(scanned.kind).not.toBe('complete');
    expect(() => parseExact(text)).toThrow(SyntaxError);
    if (depthAndKeys.why === 'too deep')
      expect(scanned).toMatchObject({ fault: { problem: 'json-deep', levels: MAX_DEPTH } });
  }
}

/** What the platform's parser makes of the same value. */
function rounded(value: ExactValue): unknown {
  if (value instanceof RawNumber) return Number(value.text);
  if (Array.isArray(value)) return value.map(rounded);
  if (typeof value !== 'object' || value === null) return value;
  const own: [string, unknown][] = Object.entries(value).map(([key, member]) => [key, rounded(member)]);
  return Object.fromEntries(own);
}
