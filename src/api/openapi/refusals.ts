import type { Problem } from '../calls/read-request.ts';
import { notAnswered, notRun } from '../http/respond.ts';
import { problemAnswer } from './answers.ts';
import { problem } from './examples.ts';
import { type AnswerDoc, PROBLEM } from './operation.ts';

/** A documented refusal as problem+json; `errors` are the fields it is about. */
export function refusal(status: number, description: string, error: string, errors?: Problem[]): AnswerDoc {
  const example = problem(status, error, errors);
  return { description, mediaType: PROBLEM, schema: problemAnswer, examples: { refused: example } };
}

/** The 400 of a call that would run something. */
export function badCall(description: string, error: Problem): AnswerDoc {
  return refusal(400, description, notRun([error]), [error]);
}

/** The 400 of any other request. */
export function badQuestion(description: string, error: Problem): AnswerDoc {
  return refusal(400, description, notAnswered([error]), [error]);
}

const unauthorized = refusal(
  401,
  'Without a key, or with one that is not known.',
  'This needs an API key: send it as "Authorization: Bearer <key>", or sign in with it in the console.',
);

export const forbidden = refusal(
  403,
  'A key without the permission or for other apps, a page of another origin, or a name this server does not go by.',
  'This needs the permission "run", and the key "dashboard" has read.',
);

/** The refusal of a key that asks for more than its share. */
const limited = {
  ...refusal(
    429,
    'The key is at one of its limits: calls a second, open calls, event streams, batches.',
    'The API key "dashboard" may have at most 500 calls a second. This request was refused and ran nothing. Try again in a moment.',
  ),
  headers: { 'Retry-After': 'Seconds to wait.' },
};

export const unavailable = {
  ...refusal(
    503,
    'The queue store or the workers cannot be reached, or this process is stopping.',
    'The queue store cannot be reached. Nothing was run; try again in a moment.',
  ),
  headers: { 'Retry-After': 'Seconds to wait.' },
};

export const failed = refusal(
  500,
  'A fault of the service: its log has the details under the request id.',
  'Something went wrong inside the service; its log has the details under request 4d1c.',
);

/** The refusals of every operation that needs a key. */
export const usual = { 401: unauthorized, 403: forbidden, 429: limited, 500: failed };
