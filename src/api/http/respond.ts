import type { Context } from 'hono';
import type { Ending, ReadResult } from '../../shared/contract/endings/ending.ts';
import { errorOf, type NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import { noAnswerBody } from '../../shared/contract/execution-record.ts';
import { visibleLines } from '../../shared/contract/json/visible-text.ts';
import { statusOf } from '../../shared/reasons/codes.ts';
import { retryAfterOf } from '../../shared/reasons/endings.ts';
import type { Problem } from '../../shared/reasons/problems.ts';
import { type RefusalCode, refusals } from '../../shared/reasons/refusals.ts';
import { mapTexts, type ParamsOf } from '../../shared/reasons/template.ts';
import { PROBLEM_TYPE, problemBody, type Refusal, refusalFor, refusalOf } from '../../shared/runtime/http-refusals.ts';

/**
 * Refusals that come faster than each can have a line are told together each second. They are sent so late, too: callers that repeat at once
 * would take the time from the others.
 */
export const REFUSALS_MS = 1000;

type Rest = {
  headers?: Record<string, string>;
  more?: Record<string, unknown>;
};

export function problem<Of extends RefusalCode>(
  code: Of,
  params: ParamsOf<(typeof refusals)[Of]['text']>,
  rest: Rest = {},
): Response {
  return respondToRefusal(refusalOf(code, params), rest);
}

export function respondToRefusal(refusal: Refusal, { headers, more }: Rest = {}): Response {
  const { status, retryAfterSeconds } = { retryAfterSeconds: undefined, ...refusals[refusal.code] };
  const again = retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) };
  const body = problemBody(refusal, more);
  return new Response(body, { status, headers: { 'content-type': PROBLEM_TYPE, ...again, ...headers } });
}

/** A 400: it names every field there is something wrong with. */
export function badRequest(problems: readonly Problem[]): Response {
  return respondToRefusal(refusalFor('bad-request', problems));
}

/** The answer to a body that was not read whole. */
export function refuseBody(
  why: 'no-room' | 'too-large' | 'cut-off',
  limit: { maxBytes: number; setting?: string },
): Response {
  const headers = { connection: 'close' };
  if (why === 'no-room') return problem('bodies-full-now', {}, { headers });
  if (why === 'cut-off') return problem('body-cut-off', {});
  return problem('body-too-large', limit, { headers });
}

/** The answer to a synchronous call: the client's result unchanged, or the ending without one. */
export function respondToEnding(context: Context, mockId: string, ending: Ending<ReadResult>): Response {
  context.set('mockId', mockId);
  if (ending.kind === 'answered') return json(200, ending.result.body);
  context.set('code', ending.noAnswer.code);
  return respondUnanswered(mockId, ending.noAnswer);
}

function respondUnanswered(mockId: string, noAnswer: NoAnswer): Response {
  const { code, params } = noAnswer;
  const shown = { ...noAnswer, params: mapTexts(params, visibleLines) };
  if (code === 'bad-request') return respondToBadCall(mockId, shown);
  const seconds = retryAfterOf(noAnswer);
  const headers = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  return json(statusOf(noAnswer), noAnswerBody(mockId, shown), headers);
}

/** A 400 found by a worker has the form of one found by the API. */
function respondToBadCall(mockId: string, noAnswer: NoAnswer): Response {
  const { reason, params, mayHaveRun } = noAnswer;
  const { field = 'body', ...rest } = params;
  const error = errorOf(noAnswer);
  const more = { detail: error, error, reason, params, mayHaveRun, mockId };
  return respondToRefusal(refusalFor('bad-request', [{ field: `${field}`, code: reason, params: rest }]), { more });
}

export function json(status: number, body: string, headers: Record<string, string> = {}): Response {
  return new Response(body, { status, headers: { 'content-type': 'application/json', ...headers } });
}
