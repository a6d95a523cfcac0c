import { z } from 'zod';
import { executeRequestSchema } from '../../shared/contract/execute-request.ts';
import { acceptedAnswer, noAnswerAnswer, resultAnswer } from './answers.ts';
import { accepted, failedResult, noAnswer, problem, request, result } from './examples.ts';
import type { AnswerDoc, Operation } from './operation.ts';
import { badCall, refusal, usual } from './refusals.ts';

const CLIENT = 'orders-7f9c_4a1b2';
const unanswered = (description: string, examples: Record<string, unknown>): AnswerDoc => ({
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
          'The same call under the same key runs once in 24 h, and every repeat gets its answer. Where there is no room to keep that for so long, a repeat is told so with `outcome-unknown`, and runs nothing. A 503 under a key means: send it again with the same key.',
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
      },
    },
    answers: {
      200: {
        description: 'The client answered: the rule ran, or failed and says why.',
        schema: resultAnswer,
        examples: { 'it ran': result, 'it failed': failedResult },
      },
      202: {
        description: 'With `Prefer: respond-async`: it was begun.',
        schema: acceptedAnswer,
        examples: { begun: accepted },
        headers: { Location: 'Where the execution is.', 'Preference-Applied': 'respond-async' },
      },
      400: badCall('One answer names every field that is wrong.', {
        field: 'app',
        message: 'must be an integer from 1 to 2147483647',
      }),
      409: unanswered('It was cancelled.', {
        cancelled: noAnswer(
          'cancelled',
          `The execution was cancelled before ${CLIENT} picked the request up; it was withdrawn. The rule did not run.`,
        ),
      }),
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
          cycle: noAnswer('cycle', 'The tree of rule 1 runs in a circle: 2, 3, 2. It was not sent to any client.'),
        },
        problems: {
          'another body': problem(
            422,
            'This Idempotency-Key was used for a call with another body: use a new key for a new call.',
          ),
        },
      },
      502: unanswered('The client wrote something that is not a result.', {
        'invalid-result': noAnswer(
          'invalid-result',
          `Client ${CLIENT} wrote a result that cannot be used: it is not JSON. The rule ran or began to run.`,
          true,
        ),
      }),
      503: {
        description: 'No client or no worker is there to run it, or too much waits already.',
        schema: noAnswerAnswer,
        headers: { 'Retry-After': 'Seconds to wait, where waiting helps.' },
        examples: {
          'no-client': noAnswer(
            'no-client',
            'App 9001 has no client online. No client is online for app 9001: start one, or check its SHARED_DIR.',
          ),
          'client-offline': noAnswer('client-offline', `Client ${CLIENT} is offline. Online: orders-7f9c_99.`),
          'channel-unavailable': noAnswer(
            'channel-unavailable',
            `The request for client ${CLIENT} could not be written to mock/9001/${CLIENT}: the disk is full. It did not run.`,
          ),
          'no-worker': noAnswer(
            'no-worker',
            'No worker takes executions: none runs, or none can use its SHARED_DIR (its /readyz says why).',
          ),
          overloaded: noAnswer('overloaded', '10000 executions are waiting already. This one did not run.'),
          'queue-unavailable': noAnswer('queue-unavailable', 'The queue store cannot be reached. It did not run.'),
          stopping: noAnswer('overloaded', 'This API process is stopping. The call was not run; send it again.'),
          'outcome-unknown': noAnswer('outcome-unknown', 'The queue store did not confirm the execution.', true),
          fenced: noAnswer(
            'fenced',
            'Execution 94de541c-… had not begun when its Idempotency-Key was needed for another call, or its time was over. It did not run. Send the call again with the same key.',
          ),
          'answer-gone': noAnswer(
            'outcome-unknown',
            `Client ${CLIENT} answered execution 94de541c-…: it ran; its answer is no longer kept (IDEMPOTENCY_BYTES). It is not run again under this Idempotency-Key.`,
            true,
          ),
        },
      },
      504: unanswered('The client did not answer in time.', {
        'not-picked-up': noAnswer('not-picked-up', `Client ${CLIENT} did not pick the request up within 60000 ms.`),
        'no-answer': noAnswer('no-answer', `Client ${CLIENT} wrote no answer within 60000 ms.`, true),
        'client-left': noAnswer('client-left', `Client ${CLIENT} left while it had the request.`, true),
      }),
      ...usual,
    },
  },
];
