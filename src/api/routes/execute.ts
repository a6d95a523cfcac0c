import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import type { Scope } from '../../shared/contract/determined-id.ts';
import { unanswered } from '../../shared/contract/endings/ending.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { State } from '../../shared/contract/endings/states.ts';
import { isStoreUnavailable } from '../../shared/store/store-error.ts';
import { refusedApp, refusedPermission, tellAbout } from '../access/authenticate.ts';
import type { BodyLease, OpenBodies } from '../calls/admission.ts';
import {
  callerLeft,
  type InScene,
  idempotencyKeyOf,
  isFormPost,
  type RuleOfScene,
  readBody,
  readExecuteRequest,
} from '../calls/read-request.ts';
import type { Call, SubmitExecution } from '../calls/submit-execution.ts';
import type { Environment } from '../http/environment.ts';
import { refusedParameters } from '../http/middleware.ts';
import { badRequest, json, problem, refuseBody, respondToEnding } from '../http/respond.ts';
import type { Once, RunOnce } from '../idempotency/run-once.ts';

type ExecuteDependencies = {
  submitExecution: SubmitExecution;
  ruleOfScene: RuleOfScene;
  runOnce: RunOnce;
  /** Whether connections that close now are closed by this side. */
  closedByUs: () => boolean;
  maxBodyBytes: number;
  openBodies: OpenBodies;
};

/** POST /rule-server/mock/execute: run one rule on one client and answer with what the client wrote. */
export function executeRoute(dependencies: ExecuteDependencies) {
  const { submitExecution, ruleOfScene, runOnce, closedByUs, maxBodyBytes, openBodies } = dependencies;
  return new Hono<Environment>().post('/execute', async (context) => {
    const refusal = refusedPermission(context, 'run') ?? refusedParameters(context);
    if (refusal) return refusal;
    const lease = openBodies.lease();
    return execute(context, lease).finally(() => lease.close());
  });

  async function execute(context: Context<Environment>, lease: BodyLease): Promise<Response> {
    const { incoming, outgoing } = context.env;
    if (isFormPost(incoming.headers)) return fromForeignPage();
    const body = await readBody(incoming, maxBodyBytes, lease);
    if (body.kind !== 'complete') return notRead(context, body.kind, maxBodyBytes);
    const read = readExecuteRequest(body.bytes);
    if (read.kind === 'bad') return badRequest(read.problems);
    tellAbout(context, read.request);
    const notIts = refusedApp(context, read.request.app);
    if (notIts) return notIts;
    const inScene = () => ruleOf(context, ruleOfScene(read.request));
    const asked = { mockId: randomUUID(), keyName: context.var.keyName ?? null, body: lease };
    const keyed = idempotencyKeyOf(context.req);
    if (keyed.kind === 'bad') return badRequest(keyed.problems);
    const scope = { app: read.request.app, keyName: asked.keyName };
    if (keyed.kind === 'key')
      return once(context, { ...scope, key: keyed.key }, { ...asked, inScene, bytes: body.bytes });
    const found = await inScene();
    if (found.kind !== 'request') return withoutRule(context, found);
    const call = { ...asked, request: found.request };
    if (prefersAsync(context)) return begin(context, call);
    const ending = await submitExecution.run(call, callerLeft(outgoing, closedByUs));
    return respondToEnding(context, call.mockId, ending);
  }

  /** 202 at once (RFC 7240, `Prefer: respond-async`); how it goes on is at its Location. */
  async function begin(context: Context<Environment>, call: Call): Promise<Response> {
    const { mockId } = call;
    const begun = await submitExecution.begin({ ...call, collect: true });
    if (begun.kind === 'refused') return respondToEnding(context, mockId, unanswered(begun.noAnswer));
    context.set('openUntil', begun.ended);
    return accepted(context, mockId, 'queued');
  }

  /** Not cancelled when its caller leaves: another one may wait for the same execution. */
  async function once(
    context: Context<Environment>,
    scope: Scope,
    call: Omit<Call, 'request'> & { inScene: () => Promise<InScene>; bytes: Buffer },
  ): Promise<Response> {
    try {
      const ran = await runOnce(scope, { ...call, collect: prefersAsync(context) });
      return markReplayed(await respondToOnce(context, ran), ran);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      return respondToEnding(context, call.mockId, unanswered(noAnswer('key-record-away', { why: 'silent' })));
    }
  }
}

/** Says of an answer that it is the one of an earlier call under the same key. */
function markReplayed(response: Response, ran: Once): Response {
  if (ran.kind === 'runs' && ran.ended === undefined) response.headers.set('idempotent-replayed', 'true');
  return response;
}

/** Tells who keeps account of the call which rule it runs. */
async function ruleOf(context: Context<Environment>, asked: Promise<InScene>): Promise<InScene> {
  const found = await asked;
  if (found.kind === 'request') tellAbout(context, found.request);
  return found;
}

async function respondToOnce(context: Context<Environment>, ran: Once): Promise<Response> {
  switch (ran.kind) {
    case 'other-body':
      return problem('key-reused', {});
    case 'refused':
      return respondToEnding(context, ran.mockId, unanswered(ran.noAnswer));
    case 'no-rule':
    case 'no-worker':
      return withoutRule(context, ran);
    case 'runs': {
      if (ran.record) tellAbout(context, ran.record);
      context.set('openUntil', ran.ended);
      if (prefersAsync(context)) return accepted(context, ran.mockId, ran.record?.state ?? 'queued');
      const { mockId, ending } = await ran.ending();
      return respondToEnding(context, mockId, ending);
    }
  }
}

function withoutRule(context: Context<Environment>, found: Exclude<InScene, { kind: 'request' }>): Response {
  if (found.kind === 'no-rule') return badRequest([found.problem]);
  return respondToEnding(context, randomUUID(), unanswered(noAnswer('scene-unknown', {})));
}

function fromForeignPage(): Response {
  return problem('foreign-type', { types: 'application/json' });
}

function notRead(context: Context<Environment>, why: 'no-room' | 'too-large' | 'cut-off', maxBytes: number): Response {
  return why === 'no-room' ? withoutRoom(context) : refuseBody(why, { maxBytes, setting: 'MAX_BODY_BYTES' });
}

function withoutRoom(context: Context<Environment>): Response {
  const isKeyed = context.req.header('idempotency-key') !== undefined;
  const refusal = noAnswer(isKeyed ? 'bodies-full-for-keyed' : 'bodies-full', {});
  const response = respondToEnding(context, randomUUID(), unanswered(refusal));
  response.headers.set('connection', 'close'); // the rest of the body is not read
  return response;
}

function accepted(context: Context<Environment>, mockId: string, state: State): Response {
  context.set('mockId', mockId);
  const location = `/rule-server/mock/executions/${mockId}`;
  return json(202, JSON.stringify({ mockId, state }), { location, 'preference-applied': 'respond-async' });
}

function prefersAsync(context: Context<Environment>): boolean {
  return /(^|,)\s*respond-async\s*(,|;|$)/i.test(context.req.header('prefer') ?? '');
}
