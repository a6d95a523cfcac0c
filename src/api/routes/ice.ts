import { randomUUID } from 'node:crypto';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { errorOf, noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import { RawNumber, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { time } from '../../shared/ports/time.ts';
import { refusals } from '../../shared/reasons/refusals.ts';
import { messageOf, summaryOf } from '../../shared/reasons/words.ts';
import { errorOfRefusal, refusalOf } from '../../shared/runtime/http-refusals.ts';
import { needs, refusedApp, tellAbout } from '../access/authenticate.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { BodyLease, OpenBodies } from '../calls/admission.ts';
import { callerLeft, isFormPost, type RuleOfScene, readBody } from '../calls/read-request.ts';
import type { SubmitExecution } from '../calls/submit-execution.ts';
import type { Environment } from '../http/environment.ts';
import { parametersOf, parseParameters, selectionParameters } from '../http/parameters.ts';
import { envelope, INPUT_ERROR, OTHER_ERROR, refusal } from '../ice/envelope.ts';
import { iceAnswer, timedOut } from '../ice/ice-answer.ts';
import { readIceRequest } from '../ice/read-ice-request.ts';

/** The published server's page gives up at 60 s and shows a failure without a reason; it gets an answer before that. */
const ANSWER_WITHIN_MS = 58_000;

type IceDependencies = {
  submitExecution: SubmitExecution;
  ruleOfScene: RuleOfScene;
  ask: AskWorker['ask'];
  closedByUs: () => boolean;
  maxBodyBytes: number;
  openBodies: OpenBodies;
};

/**
 * The mock endpoints of the published server, under its paths and in its envelope, so that a gateway rule moves a team
 * without touching its page. What this service does better (numbers, dead clients, lanes, cycles) holds here too.
 */
export function iceRoutes({
  submitExecution,
  ruleOfScene,
  ask,
  closedByUs,
  maxBodyBytes,
  openBodies,
}: IceDependencies) {
  async function execute(context: Context<Environment>): Promise<Response> {
    const lease = openBodies.lease();
    return executeWith(context, lease).finally(() => lease.close());
  }

  async function executeWith(context: Context<Environment>, lease: BodyLease): Promise<Response> {
    const { incoming, outgoing } = context.env;
    if (isFormPost(incoming.headers))
      return refusal(OTHER_ERROR, 'A browser must send content-type: application/json.', 415);
    const body = await readBody(incoming, maxBodyBytes, lease);
    if (body.kind !== 'complete') return refuseBody(body.kind, maxBodyBytes);
    const read = readIceRequest(body.bytes);
    if (read.kind === 'bad') {
      context.set('code', 'bad-request');
      return refusal(read.ret, read.message);
    }
    const notIts = refusedApp(context, read.request.app);
    if (notIts) return notIts;

    const found = await ruleOfScene(read.request);
    if (found.kind !== 'request')
      return refusal(
        OTHER_ERROR,
        found.kind === 'no-rule' ? `scene: ${messageOf(found.problem)}` : errorOfRefusal(found),
      );

    const mockId = randomUUID();
    context.set('mockId', mockId);
    const nobodyWaits = new AbortController();
    const left = callerLeft(outgoing, closedByUs);
    left.addEventListener('abort', () => nobodyWaits.abort(), { once: true });
    const call = { mockId, request: found.request, keyName: context.var.keyName ?? null, body: lease };
    tellAbout(context, found.request);
    const answer = submitExecution.run(call, nobodyWaits.signal).then((ending) => {
      if (ending.kind !== 'answered') context.set('code', ending.noAnswer.code);
      return iceAnswer(call, ending);
    });
    context.set('openUntil', answer);
    const timer = new AbortController();
    const late = time.pause(ANSWER_WITHIN_MS, timer.signal).then(() => {
      if (!timer.signal.aborted) nobodyWaits.abort(); // takes the request back unless the client has it
      return timedOut(mockId);
    });
    return Promise.race([answer, late]).finally(() => timer.abort());
  }

  return new Hono<Environment>()
    .post('/execute', needs('run'), execute)
    .get('/schema', needs('read'), (context) => answerSchema(context, ask));
}

function refuseBody(why: 'no-room' | 'too-large' | 'cut-off', maxBytes: number): Response {
  switch (why) {
    case 'no-room':
      return refusal(OTHER_ERROR, errorOf(noAnswer('bodies-full', {})));
    case 'too-large':
      return refusal(
        OTHER_ERROR,
        errorOfRefusal(refusalOf('body-too-large', { maxBytes, setting: 'MAX_BODY_BYTES' })),
        413,
      );
    case 'cut-off':
      return refusal(OTHER_ERROR, errorOfRefusal(refusalOf('body-cut-off', {})));
  }
}

async function answerSchema(context: Context<Environment>, ask: AskWorker['ask']): Promise<Response> {
  const given = parametersOf(context);
  given.set('ruleId', given.get('iceId') ?? []);
  const read = parseParameters(selectionParameters, given);
  if (read.kind === 'bad') return refusal(INPUT_ERROR, summaryOf(read.problems));
  const notIts = refusedApp(context, read.value.app);
  if (notIts) return notIts;
  const reply = await ask({ v: QUERY_VERSION, ask: 'schema', ...read.value });
  if (reply.kind === 'found') return envelope(iceSchema(reply.body));
  // The published server knows nothing of an unknown rule either, and says null.
  return refusals[reply.code].status === 404 ? envelope('null') : refusal(OTHER_ERROR, errorOfRefusal(reply));
}

const schemaAnswerSchema = z.object({
  fields: z.array(
    z.object({ key: z.string(), nodeId: z.instanceof(RawNumber), nodeName: z.string(), valueType: z.string() }),
  ),
  fallback: z.boolean(),
});

/**
 * The fields of a form in the published server's shape: null when there are none, `dynamic` for a key that only the client
 * can complete, no empty name, and `fallback` only when it is true. `valueType`, which that server only documents, is there.
 */
function iceSchema(body: string): string {
  const { fields, fallback } = schemaAnswerSchema.parse(parseExact(body));
  const theirs = fields.map(({ key, nodeId, nodeName, valueType }) => ({
    key,
    nodeId,
    ...(nodeName !== '' && { nodeName }),
    valueType,
    ...(key.includes('${') && { dynamic: true }),
  }));
  return stringifyExact({ fields: theirs.length > 0 ? theirs : null, ...(fallback && { fallback }) });
}
