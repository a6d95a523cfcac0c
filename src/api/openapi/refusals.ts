import type { z } from 'zod';
import { problemSchema } from '../../shared/contract/problem.ts';
import { type Problem, problemAt } from '../../shared/reasons/problems.ts';
import type { RefusalCode, refusals } from '../../shared/reasons/refusals.ts';
import type { ParamsOf } from '../../shared/reasons/template.ts';
import { refusalFor, refusalOf } from '../../shared/runtime/http-refusals.ts';
import { BATCH_ID, MOCK_ID, problem } from './examples.ts';
import { type AnswerDoc, type Operation, PROBLEM } from './operation.ts';

/** A documented refusal as problem+json. */
export function refusal<Of extends RefusalCode>(
  description: string,
  code: Of,
  params: ParamsOf<(typeof refusals)[Of]['text']>,
  more: { mayHaveRun?: boolean } = {},
): AnswerDoc {
  return answerOf(description, problem(refusalOf(code, params), more));
}

const answerOf = (description: string, refused: unknown): AnswerDoc => ({
  ...{ description, mediaType: PROBLEM, schema: problemSchema, examples: { refused } },
});

/** The 400 of a call that would run something. */
export const badCall = (description: string, error: Problem): AnswerDoc =>
  answerOf(description, problem(refusalFor('bad-request', [error]), { mayHaveRun: false }));

/** The 400 of any other request. */
export const badQuestion = (description: string, error: Problem): AnswerDoc =>
  answerOf(description, problem(refusalFor('bad-request', [error])));

const unauthorized = refusal('Without a key, or with one that is not known.', 'key-missing', {});

export const forbidden = refusal(
  'A key without the permission or for other apps, a page of another origin, or a name this server does not go by.',
  'no-permission',
  { permission: 'run', name: 'dashboard', has: 'read' },
);

/** The refusal of a key that asks for more than its share. */
const limited = {
  ...refusal(
    'The key is at one of its limits: calls a second, open calls, event streams, batches.',
    'too-many-calls-of-key',
    { name: 'dashboard', limit: 500 },
  ),
  headers: { 'Retry-After': 'Seconds to wait.', RateLimit: 'The calls that are left in this second.' },
};

export const unavailable = {
  ...refusal('The queue store or the workers cannot be reached, or this process is stopping.', 'store-away', {
    why: 'away',
  }),
  headers: { 'Retry-After': 'Seconds to wait.' },
};

export const failed = refusal(
  'A fault of the service: its log has the details under the request id.',
  'internal-error',
  { requestId: '4d1c' },
);

const badParameter = (query: z.ZodObject) =>
  badQuestion('A parameter is wrong.', problemAt(Object.keys(query.shape)[0] ?? '', 'repeated', { found: 2 }));
const unknownExecution = refusal('There is no such execution (any more).', 'unknown-execution', { mockId: MOCK_ID });
/** 404 of an id that was never given, and 410 of a batch that was kept once. */
export const ofBatch = {
  404: refusal('There is no such batch.', 'unknown-batch', { batchId: BATCH_ID }),
  410: refusal('It was kept once.', 'batch-gone', { batchId: BATCH_ID }),
};

/** An operation with the refusals of all operations that take parameters, name a thing, ask the workers or the store, or need a key. */
export function withUsual(operation: Operation): Operation {
  const { path, query, open, needs, answers } = operation;
  const usual = {
    ...(query && { 400: badParameter(query) }),
    ...(path.includes('{mockId}') && { 404: unknownExecution }),
    ...(path.includes('{batchId}') && ofBatch),
    ...(needs && needs !== 'ops' && { 503: unavailable }),
    ...(!open && { 401: unauthorized, 403: forbidden, 429: limited, 500: failed }),
  };
  return { ...operation, answers: { ...usual, ...answers } };
}
