import { STATUS_CODES } from 'node:http';
import type { Context } from 'hono';
import type { Ending, ReadResult } from '../../shared/contract/ending.ts';
import { noAnswerBody } from '../../shared/contract/execution-record.ts';
import { type NoAnswer, outcomeOf } from '../../shared/contract/outcomes.ts';
import type { Problem } from '../calls/read-request.ts';

/** A refusal as problem+json (RFC 9457), which also has `success` and `error`, so that one reader fits all answers. */
export function problem(
  status: number,
  error: string,
  rest: { errors?: Problem[]; headers?: Record<string, string>; more?: Record<string, unknown> } = {},
): Response {
  const body = {
    type: 'about:blank',
    title: STATUS_CODES[status],
    status,
    detail: error,
    ...(rest.errors && { errors: rest.errors }),
    success: false,
    error,
    ...rest.more,
  };
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/problem+json', ...rest.headers },
  });
}

/** A 400 to a call to run something; it names every field there is something wrong with. */
export function badRequest(errors: Problem[]): Response {
  return problem(400, notRun(errors), { errors });
}

/** A 400 to any other request, likewise. */
export function badQuestion(errors: Problem[]): Response {
  return problem(400, notAnswered(errors), { errors });
}

/** The sentence of a 400, also in the description of this interface. */
export const notRun = (errors: Problem[]) => `The request was not run: ${summaryOf(errors)}.`;
export const notAnswered = (errors: Problem[]) => `The request cannot be answered: ${summaryOf(errors)}.`;

function summaryOf(errors: Problem[]): string {
  return errors.map(({ field, message }) => `${field} ${message}`).join('; ');
}

/** The answer to a synchronous call: the client's own result to the letter, or the reason there is none. */
export function respondToEnding(
  context: Context,
  mockId: string,
  ending: Ending<ReadResult>,
  retryAfterSeconds?: number,
): Response {
  context.set('mockId', mockId);
  if (ending.kind === 'answered') return json(200, ending.result.body);
  context.set('code', ending.noAnswer.code);
  return respondUnanswered(mockId, ending.noAnswer, retryAfterSeconds);
}

function respondUnanswered(mockId: string, noAnswer: NoAnswer, retryAfter: number | undefined): Response {
  if (noAnswer.code === 'bad-request')
    return badRequest([{ field: noAnswer.field ?? 'body', message: noAnswer.error }]);
  const { status, retryAfterSeconds } = outcomeOf(noAnswer.code);
  const seconds = retryAfter ?? retryAfterSeconds;
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return json(status, noAnswerBody(mockId, noAnswer), headers);
}

/** JSON text as it is. */
export function json(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}
