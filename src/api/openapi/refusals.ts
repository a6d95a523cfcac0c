import { problemSchema } from '../../shared/contract/problem.ts';
import type { RefusalCode, refusals } from '../../shared/reasons/refusals.ts';
import type { ParamsOf } from '../../shared/reasons/template.ts';
import { refusalOf } from '../../shared/runtime/http-refusals.ts';
import type { Problem } from '../calls/read-request.ts';
import { summaryOf } from '../http/respond.ts';
import { problem } from './examples.ts';
import { type AnswerDoc, PROBLEM } from './operation.ts';

/** A documented refusal as problem+json; `errors` are the fields it is about. */
export function refusal<Of extends RefusalCode>(
  description: string,
  code: Of,
  params: ParamsOf<(typeof refusals)[Of]['text']>,
  more: { errors?: Problem[]; mayHaveRun?: boolean } = {},
): AnswerDoc {
  const example = problem(refusalOf(code, params), more);
  return { description, mediaType: PROBLEM, schema: problemSchema, examples: { refused: example } };
}

/** The 400 of a call that would run something. */
export function badCall(description: string, error: Problem): AnswerDoc {
  return refusal(description, 'bad-request', { problems: summaryOf([error]) }, { errors: [error], mayHaveRun: false });
}

/** The 400 of any other request. */
export function badQuestion(description: string, error: Problem): AnswerDoc {
  return refusal(description, 'bad-request', { problems: summaryOf([error]) }, { errors: [error] });
}

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

/** The refusals of every operation that needs a key. */
export const usual = { 401: unauthorized, 403: forbidden, 429: limited, 500: failed };
