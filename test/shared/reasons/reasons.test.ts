import { describe, expect, it, test } from 'vitest';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import { statusOf } from '../../../src/shared/reasons/codes.ts';
import { endings, isReason, type Reason, retryAfterOf } from '../../../src/shared/reasons/endings.ts';
import { problemAt } from '../../../src/shared/reasons/problems.ts';
import { refusals } from '../../../src/shared/reasons/refusals.ts';
import { english, sentenceOf, whatHappened } from '../../../src/shared/reasons/words.ts';
import { errorOfRefusal, refusalFor } from '../../../src/shared/runtime/http-refusals.ts';

const reasons = Object.keys(endings).filter(isReason);
const mayHaveRun = (reason: Reason) =>
  endings[reason].ran === 'no' ? [false] : endings[reason].ran === 'either' ? [true, false] : [true];

describe('the sentence of an ending', () => {
  it.each([
    [
      noAnswer('not-picked-up', { address: 'shop-1', timeoutMs: 500 }, { mayHaveRun: false }),
      'Client shop-1 did not pick the request up within 500 ms; it was withdrawn. It did not run.',
    ],
    [
      noAnswer('not-picked-up', { address: 'shop-1', timeoutMs: 500 }, { mayHaveRun: true }),
      'Client shop-1 did not pick the request up within 500 ms; it was withdrawn. It may have run; look at the client before running it again.',
    ],
    [
      noAnswer('no-client-online', { app: 7, wanted: 'lane:beta', online: 'b-2' }),
      'App 7 has no client online for "lane:beta". It did not run. Online: b-2. Start it, or check its SHARED_DIR.',
    ],
    [
      noAnswer('result-unusable', { address: 'shop-1', problem: 'result-cut', bytes: 17 }),
      'Client shop-1 wrote a result that cannot be used: it ends too early, after 17 bytes. It may have run; look at the client before running it again.',
    ],
    [
      noAnswer('stub-unknown', { field: 'stub.7', nodes: '1, 2' }),
      '`stub.7`: is no node of the tree that is to run, so this stub would replace nothing: the tree has 1, 2. It did not run.',
    ],
    [
      noAnswer('key-record-away', { why: 'away' }),
      'The queue store cannot be reached. This call ran nothing; whether an earlier one under its Idempotency-Key ran was not looked up. Send it again with the same key: it runs at most once.',
    ],
    [
      noAnswer('key-record-away', { why: 'silent' }),
      'The queue store did not answer. This call ran nothing; whether an earlier one under its Idempotency-Key ran was not looked up. Send it again with the same key: it runs at most once.',
    ],
    [
      noAnswer('result-unusable', { address: 'shop-1', problem: 'not-utf-8', line: 3, byte: 5, value: '0xf6' }),
      'Client shop-1 wrote a result that cannot be used: it is not valid UTF-8: byte 5 of line 3 is 0xf6. It may have run; look at the client before running it again.',
    ],
    [
      noAnswer('silent', { address: 'a', timeoutMs: 1, full: 'the disk is full' }),
      'Client a picked the request up, but wrote no answer within 1 ms. It may have run; look at the client before running it again. Meanwhile the disk is full, so clients may be unable to answer.',
    ],
  ])('%#', (ending, sentence) => expect(sentenceOf(ending)).toBe(sentence));

  it('of a reason that only a newer version knows names it', () => {
    expect(sentenceOf({ reason: 'too-hot', params: {}, mayHaveRun: false })).toBe(
      'It ended for the reason "too-hot", which only a newer version knows. It did not run.',
    );
  });
});

test('a refusal shows the unseen characters of a field, and the cause of what is left out', () => {
  const refusal = refusalFor('bad-request', [
    problemAt('x\u202ey', 'no-keys', {}),
    problemAt('recorded', 'left-out', { count: 2, why: 'was-dry' }),
  ]);
  expect(errorOfRefusal(refusal)).toBe(
    '`x\\u202ey`: is not known here: leave it out; `recorded`: 2 because it was a dry run.',
  );
});

test('a refused call under a key says what may have run', () => {
  const told = { reason: 'too-many-open-calls', params: { name: 'ci', limit: 3 }, mayHaveRun: true };
  expect(sentenceOf(told)).toContain('This call ran nothing; whether an earlier one');
});

test('a 503 did not run and says when to try again; what may have run says so only under a key', () => {
  for (const reason of reasons) {
    for (const may of mayHaveRun(reason)) {
      const { code, ran } = endings[reason];
      const is503 = statusOf({ code, mayHaveRun: may }) === 503;
      if (may) expect([reason, is503]).toEqual([reason, false]);
      const again = retryAfterOf({ code, reason });
      if (is503 || ran === 'earlier') expect([reason, again]).toEqual([reason, expect.any(Number)]);
      else expect([reason, again]).toEqual([reason, undefined]);
    }
  }
  for (const [code, { status, ...more }] of Object.entries(refusals))
    if (status === 503)
      expect([code, more]).toEqual([code, expect.objectContaining({ retryAfterSeconds: expect.any(Number) })]);
});

test('no code is that of an ending and of a refusal, but where both say the same', () => {
  const codes = new Map<string, number>(Object.entries(refusals).map(([code, { status }]) => [code, status]));
  for (const { code } of Object.values(endings)) {
    const status = codes.get(code);
    if (status !== undefined) expect([code, status]).toEqual([code, statusOf({ code, mayHaveRun: false })]);
  }
});

test('a parameter that is not given takes its optional part of the sentence along', () => {
  expect(whatHappened({ reason: 'no-client-online', params: { app: 7 } })).toBe('App 7 has no client online.');
  expect(whatHappened({ reason: 'body-too-large', params: { maxBytes: 5 } }, english)).toBe(
    'The body is larger than 5 bytes.',
  );
});
