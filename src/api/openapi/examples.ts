import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { errorOf, type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { noAnswerBody } from '../../shared/contract/execution-record.ts';
import { statusOf } from '../../shared/reasons/codes.ts';
import { problemBody, type Refusal } from '../../shared/runtime/http-refusals.ts';
import type { Problem } from '../calls/read-request.ts';

export const MOCK_ID = '5f0c1b52-8d1e-4b53-9f0e-2f6f1f1f7c11';
export const BATCH_ID = '0d7e4b5a-7f52-4a36-9a55-6f1f0c2d9b1e';
export const AT = 1_790_000_000_000;

export const request = { app: 9001, ruleId: 1, [DATA_FIELD]: { uid: 1, cost: 120 } };

export const result = {
  mockId: MOCK_ID,
  success: true,
  [DATA_FIELD]: { uid: 1, cost: 120, send: true },
  process: '[2:And:T:1]',
  error: null,
  executeAt: AT,
  ts: AT,
  outcome: 'TRUE',
  rules: { version: 18, digest: 'Qm9xX2Vzc2VudGlhbGx5MT' },
};

export const failedResult = {
  ...result,
  success: false,
  outcome: null,
  process: null,
  error: 'no such class: com.sample.Gone',
};

/** The answer to a call that no client answered, with the very sentence that such a call gets. */
export function unanswered(noAnswer: NoAnswer): unknown {
  return JSON.parse(noAnswerBody(MOCK_ID, { ...noAnswer, executeAt: AT }));
}

/** A refusal as problem+json. */
export function problem(refusal: Refusal, more: { errors?: Problem[]; mayHaveRun?: boolean } = {}): object {
  return JSON.parse(problemBody(refusal, more));
}

export const accepted = { mockId: MOCK_ID, state: 'queued' };

export const listed = {
  mockId: MOCK_ID,
  app: 9001,
  ruleId: 1,
  confId: null,
  ts: null,
  target: 'all',
  keyName: null,
  address: 'orders-7f9c_4a1b2',
  lane: null,
  state: 'succeeded',
  history: [
    { state: 'queued', at: AT },
    { state: 'dispatched', at: AT + 12 },
    { state: 'picked-up', at: AT + 1012 },
    { state: 'succeeded', at: AT + 2060 },
  ],
  timings: { queued: 12, pickUp: 1000, running: 1044, noticing: 4, total: 2060 },
  warnings: [],
  ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true },
  outcome: 'TRUE',
  error: null,
  dryRun: false,
  comparisonId: null,
  derivedFrom: null,
  rules: { released: 18, loaded: 18, digest: 'Qm9xX2Vzc2VudGlhbGx5MT' },
};

export const execution = {
  ...listed,
  input: request[DATA_FIELD],
  result,
  lateResult: null,
  written: null,
  masked: [],
  pinned: false,
  keptUntil: AT + 604_800_000,
};

const nobody = noAnswer('no-client-online', { app: 9001 });
export const rejected = {
  ...listed,
  address: null,
  state: 'rejected',
  history: [
    { state: 'queued', at: AT },
    { state: 'rejected', at: AT + 9 },
  ],
  timings: { queued: 9, pickUp: null, running: null, noticing: null, total: 9 },
  error: errorOf(nobody),
  ending: {
    status: statusOf(nobody),
    code: nobody.code,
    reason: nobody.reason,
    params: nobody.params,
    mayHaveRun: false,
  },
  outcome: null,
  rules: null,
};

export const failures = {
  items: [
    {
      code: 'failed',
      reason: null,
      params: {},
      sentence: 'Client <client>: card <number> was refused',
      count: 212,
      first: AT,
      last: AT + 7_200_000,
      mockId: MOCK_ID,
      clients: [{ address: listed.address, count: 212 }],
    },
  ],
  looked: { executions: 5120, withoutInput: 0, until: AT },
  nextCursor: null,
};

export const events = [
  'event: snapshot',
  `data: ${JSON.stringify({ ...listed, state: 'dispatched', history: listed.history.slice(0, 2), ending: null, outcome: null, rules: null })}`,
  '',
  'event: state',
  `data: ${JSON.stringify({ state: 'picked-up', at: AT + 1012, address: listed.address, ending: null })}`,
  'id: 2',
  '',
  '',
].join('\n');
