import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { answered, unanswered as withoutAnswer } from '../../shared/contract/endings/ending.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { StateStep } from '../../shared/contract/endings/states.ts';
import { noAnswerBody, openRecord, toSettled } from '../../shared/contract/execution-record.ts';
import { problemBody, type Refusal } from '../../shared/runtime/http-refusals.ts';
import { executionBody, listBody, recordBody } from '../executions/execution-body.ts';

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
export function problem(refusal: Refusal, more: { mayHaveRun?: boolean } = {}): object {
  return JSON.parse(problemBody(refusal, more));
}

export const accepted = { mockId: MOCK_ID, state: 'queued' };

const ADDRESS = 'orders-7f9c_4a1b2';
const call = {
  mockId: MOCK_ID,
  queuedAt: AT,
  data: {
    ...{ v: 1, app: 9001, ruleId: '1', confId: null, ts: null, target: 'all', keyName: null, claimBy: AT + 30_000 },
    input: JSON.stringify(request[DATA_FIELD]),
  },
};
const steps: StateStep[] = [
  { state: 'dispatched', at: AT + 12 },
  { state: 'picked-up', at: AT + 1012 },
];
const answer = {
  address: ADDRESS,
  success: true,
  outcome: 'TRUE',
  body: JSON.stringify(result),
  answeredAt: AT + 2056,
  rules: { released: '18', loaded: '18', digest: result.rules.digest },
} as const;
const { record } = toSettled(call, answered({ ...answer, steps }), AT + 2060);
const nobody = toSettled(
  call,
  withoutAnswer({ ...noAnswer('no-client-online', { app: 9001 }), executeAt: AT }),
  AT + 9,
);

const listing = { nextCursor: null, inputs: null, nodes: null };
export const executions = JSON.parse(listBody([record, nobody.record], listing));

const whole = { record, input: call.data.input, result: answer.body, lateResult: null, masked: [], gone: false };
const kept = { pinned: false, keptUntil: AT + 604_800_000, tree: undefined };
export const execution = JSON.parse(executionBody(whole, kept));

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
      clients: [{ address: ADDRESS, count: 212 }],
    },
  ],
  searched: { executions: 5120, withoutInput: 0, until: AT },
  nextCursor: null,
};

const [, pickedUp] = steps;
export const events = [
  'event: snapshot',
  `data: ${recordBody(openRecord({ ...call, progress: { address: ADDRESS, steps: steps.slice(0, 1) } }))}`,
  '',
  'event: state',
  `data: ${JSON.stringify({ ...pickedUp, address: ADDRESS, ending: null })}`,
  'id: 2',
  '',
  '',
].join('\n');
