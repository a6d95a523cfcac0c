import { z } from 'zod';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { executeRequestSchema } from '../../shared/contract/execute-request.ts';
import { acceptedSchema } from '../../shared/contract/execution.ts';
import { problemAt } from '../../shared/reasons/problems.ts';
import { refusalOf } from '../../shared/runtime/http-refusals.ts';
import { noAnswerAnswer, resultAnswer } from './answers.ts';
import { accepted, failedResult, MOCK_ID, problem, request, result, unanswered } from './examples.ts';
import { answer, type Operation } from './operation.ts';
import { badCall, refusal } from './refusals.ts';

const CLIENT = 'orders-7f9c_4a1b2';
const [address, timeoutMs, app] = [CLIENT, 60_000, 9001];
const answerOf = (description: string, examples: Record<string, unknown>) =>
  answer(description, noAnswerAnswer, examples);

/** Running a rule. */
export const executeOperations: Operation[] = [
  {
    method: 'post',
    path: '/rule-server/mock/execute',
    id: 'execute',
    needs: 'run',
    tag: 'Execute',
    summary: 'Run a rule on one live client and answer with what it wrote',
    description:
      'Runs a real rule on a real client, so nothing is ever tried twice. No number changes its value on the way, in ' +
      'either direction. `mayHaveRun` is false only when the rule cannot have run. A caller that leaves before the ' +
      'client took the request cancels the execution.',
    headers: [
      {
        name: 'Prefer',
        description: '`respond-async` (RFC 7240): 202 at once, and the execution is read at its Location.',
        schema: z.string(),
        example: 'respond-async',
      },
      {
        name: 'Idempotency-Key',
        description:
          'The same call under the same key runs once in 24 h, and every repeat gets its answer. Where there is no room to keep that for so long, a repeat is told so with `outcome-unknown`, and runs nothing. So is one within 20 minutes whose first call the queue store has lost. An answer with `Retry-After` means: send it again with the same key.',
        schema: z.string().min(1).max(255),
        example: '0a7d2b1e',
      },
    ],
    body: {
      schema: executeRequestSchema.meta({ id: 'ExecuteRequest' }),
      examples: {
        rule: request,
        'one client, as of a time': { ...request, ts: 1_790_000_000_000, target: `address:${CLIENT}` },
        'a sub-tree, in a lane': { ...request, confId: 2, target: 'lane:beta' },
        'without effects': {
          ...request,
          dryRun: true,
          stub: { 7: 'TRUE', 9: { outcome: 'NONE', set: { points: 3 } } },
        },
      },
    },
    answers: {
      200: {
        description: 'The client answered: the rule ran, or failed and says why.',
        schema: resultAnswer,
        examples: { 'it ran': result, 'it failed': failedResult },
        headers: { 'Idempotent-Replayed': '`true` on the answer of an earlier call under the same Idempotency-Key.' },
      },
      202: {
        description: 'With `Prefer: respond-async`: it was begun.',
        schema: acceptedSchema,
        examples: { begun: accepted },
        headers: { Location: 'Where the execution is.', 'Preference-Applied': 'respond-async' },
      },
      400: badCall(
        'One answer names every field that is wrong.',
        problemAt('app', 'too-small', { expected: 'integer', minimum: 1, maximum: 2_147_483_647, found: '0' }),
      ),
      409: answerOf('It was cancelled.', {
        cancelled: unanswered(noAnswer('cancelled-before-pick-up', { address }, { mayHaveRun: false })),
      }),
      413: refusal(
        'The body is too large.',
        'body-too-large',
        { maxBytes: 1_048_576, setting: 'MAX_BODY_BYTES' },
        { mayHaveRun: false },
      ),
      415: refusal(
        'A browser sent something else than application/json.',
        'foreign-type',
        { types: 'application/json' },
        { mayHaveRun: false },
      ),
      422: {
        ...answerOf("The rule's tree has a cycle, or the Idempotency-Key belongs to another call.", {
          cycle: unanswered(noAnswer('cycle', { app, ruleId: '1', nodes: '2 → 3 → 2' })),
        }),
        problems: { 'another body': problem(refusalOf('key-reused', {}), { mayHaveRun: false }) },
      },
      502: answerOf('The client wrote something that is not a result.', {
        'invalid-result': unanswered(noAnswer('result-unusable', { address, problem: 'result-no-success' })),
        'client-ignored-dry-run': unanswered(noAnswer('dry-run-impossible', { address })),
      }),
      503: {
        description: 'It did not run: no client or no worker is there, or too much waits already.',
        schema: noAnswerAnswer,
        headers: { 'Retry-After': 'Seconds to wait.' },
        examples: {
          'no-client': unanswered(noAnswer('no-client-online', { app })),
          'client-offline': unanswered(noAnswer('client-offline', { wanted: CLIENT, online: 'orders-7f9c_99' })),
          'channel-unavailable': unanswered(
            noAnswer('request-unwritable', { address, app, directory: CLIENT, why: 'ENOSPC' }),
          ),
          'no-worker': unanswered(noAnswer('no-worker', {})),
          overloaded: unanswered(noAnswer('too-many-wait', { waiting: 10_000 })),
          'queue-unavailable': unanswered(noAnswer('not-sent', { why: 'away' })),
          stopping: unanswered(noAnswer('stopping', {})),
          fenced: unanswered(noAnswer('fenced', { mockId: MOCK_ID })),
        },
      },
      504: answerOf('The client did not answer in time, or whether it ran is not known.', {
        'not-picked-up': unanswered(noAnswer('not-picked-up', { address, timeoutMs }, { mayHaveRun: false })),
        'no-answer': unanswered(noAnswer('silent', { address, timeoutMs })),
        'client-left': unanswered(noAnswer('left-with-request', { address })),
        'outcome-unknown': unanswered(noAnswer('not-confirmed', { mockId: MOCK_ID })),
        'answer-gone': unanswered(noAnswer('answer-gone', { mockId: MOCK_ID, address })),
        'key-not-looked-up': unanswered(noAnswer('key-not-looked-up', {})),
      }),
    },
  },
];
