import type { Context } from 'hono';
import { outcomeOf, retryAfterSeconds } from '../../shared/contract/endings/codes.ts';
import type { Ending, ReadResult } from '../../shared/contract/endings/ending.ts';
import type { NoAnswer } from '../../shared/contract/endings/outcomes.ts';
import { noAnswerBody } from '../../shared/contract/execution-record.ts';
import { visibleLines } from '../../shared/contract/json/visible-text.ts';
import { PROBLEM_TYPE, problemBody } from '../../shared/runtime/http-refusals.ts';
import type { Problem } from '../calls/read-request.ts';

type RetryAfter = keyof typeof retryAfterSeconds;
type Rest = {
  errors?: Problem[];
  headers?: Record<string, string>;
  /** Why it is worth a try again, and so when. */
  retryAfter?: RetryAfter | undefined;
  more?: Record<string, unknown>;
};

/** A refusal of this interface. */
export function problem(status: number, error: string, rest: Rest = {}): Response {
  const { retryAfter } = rest;
  const again = retryAfter === undefined ? {} : { 'retry-after': String(retryAfterSeconds[retryAfter]) };
  const shown = visibleLines(error);
  const body = problemBody(status, shown, {
    ...(rest.errors && { errors: rest.errors.map((each) => ({ ...each, message: visibleLines(each.message) })) }),
    ...rest.more,
  });
  return new Response(body, { status, headers: { 'content-type': PROBLEM_TYPE, ...again, ...rest.headers } });
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
export const notRun = (errors: Problem[]) => `The request was not run: ${summaryOf(errors)}`;
export const notAnswered = (errors: Problem[]) => `The request cannot be answered: ${summaryOf(errors)}`;

function summaryOf(errors: Problem[]): string {
  const summary = errors.map(({ field, message }) => `${field} ${message}`).join('; ');
  return summary.endsWith('?') ? summary : `${summary}.`;
}

/** The answer to a synchronous call: the client's own result to the letter, or the reason there is none. */
export function respondToEnding(
  context: Context,
  mockId: string,
  ending: Ending<ReadResult>,
  retryAfter?: RetryAfter,
): Response {
  context.set('mockId', mockId);
  if (ending.kind === 'answered') return json(200, ending.result.body);
  context.set('code', ending.noAnswer.code);
  return respondUnanswered(mockId, ending.noAnswer, retryAfter);
}

function respondUnanswered(mockId: string, noAnswer: NoAnswer, retryAfter: RetryAfter | undefined): Response {
  if (noAnswer.code === 'bad-request')
    return badRequest([{ field: noAnswer.field ?? 'body', message: noAnswer.error }]);
  const { status, retryAfterSeconds: usual } = outcomeOf(noAnswer.code);
  const seconds = retryAfter === undefined ? usual : retryAfterSeconds[retryAfter];
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return json(status, noAnswerBody(mockId, noAnswer), headers);
}

/** JSON text as it is. */
export function json(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}
