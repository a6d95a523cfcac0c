import { z } from 'zod';
import { refusals } from '../../shared/contract/endings/refusals.ts';
import { sentences } from '../../shared/contract/endings/sentences.ts';
import { executeRequestSchema } from '../../shared/contract/execute-request.ts';
import { acceptedSchema } from '../../shared/contract/execution.ts';
import { noAnswerAnswer, resultAnswer } from './answers.ts';
import { accepted, failedResult, MOCK_ID, problem, request, result, unanswered } from './examples.ts';
import type { AnswerDoc, Operation } from './operation.ts';
import { badCall, refusal, usual } from './refusals.ts';

const CLIENT = 'orders-7f9c_4a1b2';
const claim = { address: CLIENT, givesUp: true };
const place = { address: CLIENT, app: 9001, directoryName: CLIENT };
const others = sentences.others(['orders-7f9c_99'], null);
const RESULT_TIMEOUT_MS = 60_000;
const answerOf = (description: string, examples: Record<string, unknown>): AnswerDoc => ({
  description,
  schema: noAnswerAnswer,
  examples,
});

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
          'The same call under the same key runs once in 24 h, and every repeat gets its answer. Where there is no room to keep that for so long, a repeat is told so with `outcome-unknown`, and runs nothing. So is one within 20 minutes whose first call the queue store has lost. A 503 under a key means: send it again with the same key.',
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
      400: badCall('One answer names every field that is wrong.', {
        field: 'app',
        message: 'must be an integer from 1 to 2147483647',
      }),
      409: answerOf('It was cancelled.', { cancelled: unanswered(sentences.cancelledBeforePickUp(claim)) }),
      413: refusal(413, 'The body is too large.', 'The body is larger than 1048576 bytes (MAX_BODY_BYTES).'),
      415: refusal(
        415,
        'A browser sent something else than application/json.',
        'A browser must send content-type: application/json; anything else could come from a foreign page.',
      ),
      422: {
        description: "The rule's tree has a cycle, or the Idempotency-Key belongs to another call.",
        schema: noAnswerAnswer,
        examples: {
          cycle: unanswered(sentences.cycle({ app: 9001, ruleId: '1', confId: null }, [2n, 3n])),
        },
        problems: {
          'another body': problem(422, refusals.keyReused()),
        },
      },
      502: answerOf('The client wrote something that is not a result.', {
        'invalid-result': unanswered(sentences.invalidResult(claim, { problem: 'is not JSON', clientDied: false })),
        'client-ignored-dry-run': unanswered(sentences.ignoredDryRun(claim, false)),
      }),
      503: {
        description: 'No client or no worker is there to run it, or too much waits already.',
        schema: noAnswerAnswer,
        headers: { 'Retry-After': 'Seconds to wait, where waiting helps.' },
        examples: {
          'no-client': unanswered(sentences.noClient(9001, '', sentences.others([], null))),
          'client-offline': unanswered(sentences.clientOffline(CLIENT, others)),
          'channel-unavailable': unanswered(sentences.channelUnavailable(place, 'the disk is full')),
          'no-worker': unanswered(sentences.neverTaken('all', 0)),
          overloaded: unanswered(sentences.tooManyWait(10_000)),
          'queue-unavailable': unanswered(sentences.notSent('cannot be reached')),
          stopping: unanswered(sentences.stopping()),
          'outcome-unknown': unanswered(sentences.notConfirmed(MOCK_ID)),
          fenced: unanswered(sentences.fenced(MOCK_ID)),
          'answer-gone': unanswered(sentences.answerGone({ mockId: MOCK_ID, address: CLIENT })),
        },
      },
      504: answerOf('The client did not answer in time.', {
        'not-picked-up': unanswered(sentences.notPickedUp(claim, RESULT_TIMEOUT_MS)),
        'no-answer': unanswered(sentences.silent(claim, RESULT_TIMEOUT_MS)),
        'client-left': unanswered(sentences.left(claim)),
      }),
      ...usual,
    },
  },
];
