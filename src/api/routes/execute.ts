import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { outcomeOf } from '../../shared/outcomes.ts';
import { isEndState } from '../../shared/states.ts';
import { callerLeft } from '../caller-left.ts';
import type { Environment } from '../environment.ts';
import type { Executions } from '../executions.ts';
import type { createIdempotency } from '../idempotency.ts';
import { readBody } from '../read-body.ts';
import { readExecuteRequest } from '../read-request.ts';
import { badRequest, json, problem, respondToEnding } from '../respond.ts';
import type { Call, SubmitExecution } from '../submit-execution.ts';

type Dependencies = {
  submitExecution: SubmitExecution;
  executions: Executions;
  idempotency: ReturnType<typeof createIdempotency>;
  maxBodyBytes: number;
};

/** POST /rule-server/mock/execute: run one rule on one client and answer with what the client wrote. */
export function executeRoute({ submitExecution, executions, idempotency, maxBodyBytes }: Dependencies) {
  return new Hono<Environment>().post('/execute', async (context) => {
    const { incoming, outgoing } = context.env;
    if (isFormPost(incoming.headers)) {
      return problem(
        415,
        'A browser must send content-type: application/json; anything else could come from a foreign page.',
      );
    }
    const body = await readBody(incoming, maxBodyBytes);
    if (body.kind === 'too-large') {
      return problem(413, `The body is larger than ${maxBodyBytes} bytes (MAX_BODY_BYTES).`, {
        headers: { connection: 'close' },
      });
    }
    if (body.kind === 'cut-off') return badRequest([{ field: 'body', message: 'was cut off before its end' }]);

    const read = readExecuteRequest(body.bytes);
    if (read.kind === 'bad') return badRequest(read.problems);
    const call = { mockId: randomUUID(), request: read.request, keyName: context.var.keyName ?? null };
    const key = context.req.header('idempotency-key');
    const left = callerLeft(outgoing);
    if (key === undefined)
      return prefersAsync(context)
        ? begin(context, call)
        : respondToEnding(context, await submitExecution.run(call, left));
    return once(context, call, { key, body: body.bytes, left });
  });

  /** 202 at once (RFC 7240, `Prefer: respond-async`); how it goes on is at its Location. */
  async function begin(context: Context<Environment>, call: Call): Promise<Response> {
    const refused = await submitExecution.begin(call);
    if (refused) return respondToEnding(context, { kind: 'unanswered', mockId: call.mockId, noAnswer: refused });
    return accepted(context, call.mockId, 'queued');
  }

  /** The same call under the same key runs once, whichever API it reaches, and everybody gets the one answer. */
  async function once(
    context: Context<Environment>,
    call: Call,
    { key, body, left }: { key: string; body: Buffer; left: AbortSignal },
  ): Promise<Response> {
    if (key.length < 1 || key.length > 255)
      return badRequest([{ field: 'Idempotency-Key', message: 'must have 1 to 255 characters' }]);
    const scope = { app: call.request.app, keyName: call.keyName, key };
    const remembered = await idempotency.remember({ ...scope, body, mockId: call.mockId }).catch(() => null);
    if (remembered === null)
      return problem(503, 'The queue store cannot be reached. The call was not run; try again in a moment.', {
        headers: { 'retry-after': '2' },
      });
    if (remembered.kind === 'other-body')
      return problem(422, 'This Idempotency-Key was used for a call with another body.');
    if (remembered.kind === 'again')
      return prefersAsync(context) ? accepted(context, remembered.mockId) : answerOf(context, remembered.mockId, left);

    const refused = await submitExecution.begin(call);
    if (refused) {
      await idempotency.forget(scope).catch(() => {});
      return respondToEnding(context, { kind: 'unanswered', mockId: call.mockId, noAnswer: refused });
    }
    const forgetRejected = async () => {
      const record = await lastRecord(call.mockId, new AbortController().signal);
      if (record?.state === 'rejected') await idempotency.forget(scope);
    };
    const ended = forgetRejected().catch(() => {});
    if (prefersAsync(context)) return accepted(context, call.mockId, 'queued');
    await Promise.race([ended, new Promise((resolve) => left.addEventListener('abort', resolve, { once: true }))]);
    return answerOf(context, call.mockId, left);
  }

  async function lastRecord(mockId: string, left: AbortSignal) {
    let last = null;
    for await (const record of executions.follow(mockId, left)) last = record;
    return last;
  }

  /** The answer of an execution that another call began, waiting for its end. */
  async function answerOf(context: Context<Environment>, mockId: string, left: AbortSignal): Promise<Response> {
    const record = await lastRecord(mockId, left);
    const execution = record && isEndState(record.state) ? await executions.get(mockId) : null;
    if (!execution?.result || !execution.record.outcome) {
      const error = `How execution ${mockId} ended is not known any more. It may have run; look at the client before running it again.`;
      return problem(outcomeOf('outcome-unknown').status, error);
    }
    context.set('mockId', mockId);
    return json(execution.record.outcome.status, execution.result);
  }
}

function accepted(context: Context<Environment>, mockId: string, state?: string): Response {
  context.set('mockId', mockId);
  const location = `/rule-server/mock/executions/${mockId}`;
  return json(202, JSON.stringify({ mockId, state: state ?? 'queued' }), {
    location,
    'preference-applied': 'respond-async',
  });
}

function prefersAsync(context: Context<Environment>): boolean {
  return /(^|,)\s*respond-async\s*(,|;|$)/i.test(context.req.header('prefer') ?? '');
}

/** Browsers send forms and plain text to any site without asking it first; a JSON body they do not. */
function isFormPost(headers: NodeJS.Dict<string | string[]>): boolean {
  const fromBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return fromBrowser && type !== 'application/json';
}
