import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { HonoRequest } from 'hono';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import {
  type AskedRequest,
  callSchema,
  type ExecuteRequest,
  executeRequestSchema,
  memberValue,
} from '../../shared/contract/execute-request.ts';
import { problemsOf } from '../../shared/contract/issues.ts';
import { scanJson } from '../../shared/contract/json/exact-json.ts';
import type { Member } from '../../shared/contract/json/json-tokens.ts';
import { decodeWhole } from '../../shared/contract/json/utf8.ts';
import { unknownNames } from '../../shared/contract/nearest.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { ruleListSchema } from '../../shared/contract/rules-and-clients.ts';
import { readAs } from '../../shared/contract/wire.ts';
import { type Problem, problemAt, problemOfFault } from '../../shared/reasons/problems.ts';
import type { Refusal } from '../../shared/runtime/http-refusals.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { BodyLease } from './admission.ts';

type ReadRequest = { kind: 'request'; request: AskedRequest } | { kind: 'bad'; problems: Problem[] };

/** The answer to a large body of near misses must not be many times as large. */
const MAX_PROBLEMS = 100;

/** Reads the body of execute. All faults of a bad one are told, not only the first. */
export function readExecuteRequest(bytes: Uint8Array): ReadRequest {
  if (bytes.length === 0) return bad(problemAt('body', 'empty-body', { example: '{"app":1,"ruleId":1}' }));
  const decoded = decodeWhole(bytes);
  if (decoded.kind !== 'text') return bad(problemOfFault('body', decoded.fault));

  const scanned = scanJson(decoded.text);
  if (scanned.kind !== 'complete') return bad(problemOfFault(scanned.path || 'body', scanned.whole));
  if (scanned.type !== 'object')
    return bad(problemAt('body', 'invalid-type', { expected: 'json-object', received: scanned.type }));

  const names = scanned.members.map(({ key }) => key);
  const parsed = callSchema.safeParse(membersByKey(scanned.members), { reportInput: true });
  const problems = [
    ...scanned.duplicates.map((path) => problemAt(path, 'duplicate', {})),
    ...unknownNames(names, FIELDS, OTHER_NAMES),
    ...problemsOf(parsed.error?.issues ?? []),
  ];
  return parsed.success && problems.length === 0
    ? { kind: 'request', request: parsed.data }
    : { kind: 'bad', problems: problems.slice(0, MAX_PROBLEMS) };
}

const FIELDS = Object.keys(executeRequestSchema.shape);
/** Names that other programs have for a field. */
const OTHER_NAMES = new Map([
  ...['roam', 'service', 'data', 'input'].map((name) => [name, DATA_FIELD] as const),
  ...['simulate', 'simulation', 'noeffects', 'whatif', 'test'].map((name) => [name, 'dryRun'] as const),
  ['iceid', 'ruleId'],
]);

function membersByKey(members: Member[]): Record<string, unknown> {
  return Object.fromEntries(
    members.filter(({ key }) => FIELDS.includes(key)).map((member) => [member.key, memberValue(member)]),
  );
}

const bad = (problem: Problem): ReadRequest => ({ kind: 'bad', problems: [problem] });

/** Refuses the content types that browsers send cross-site without a CORS preflight: forms and plain text. */
export function isFormPost(headers: IncomingHttpHeaders): boolean {
  const fromBrowser = headers.origin !== undefined || headers['sec-fetch-site'] !== undefined;
  const type = String(headers['content-type'] ?? '')
    .split(';')[0]
    ?.trim()
    .toLowerCase();
  return fromBrowser && type !== 'application/json';
}

type Body = { kind: 'complete'; bytes: Buffer } | { kind: 'too-large' } | { kind: 'cut-off' } | { kind: 'no-room' };

/** How much of an oversized body is still read, so that a caller that reads only after sending gets the refusal. */
const DRAIN_FACTOR = 4;

/** Reads a request body of at most `maxBytes`. `no-room`: `lease` could not grow by it in time. */
export async function readBody(incoming: IncomingMessage, maxBytes: number, lease?: BodyLease): Promise<Body> {
  const drainBytes = maxBytes * DRAIN_FACTOR;
  if (Number(incoming.headers['content-length'] ?? 0) > drainBytes) return { kind: 'too-large' };
  const announced = Math.min(Number(incoming.headers['content-length'] ?? 0), maxBytes);
  if (lease && !(await lease.grow(announced))) return { kind: 'no-room' };
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      size += chunk.length;
      if (size > drainBytes) return { kind: 'too-large' };
      if (lease && size > announced && size <= maxBytes && !(await lease.grow(chunk.length)))
        return { kind: 'no-room' };
      if (size <= maxBytes) chunks.push(chunk);
      else chunks.length = 0;
    }
  } catch {
    return { kind: 'cut-off' };
  }
  return size > maxBytes ? { kind: 'too-large' } : { kind: 'complete', bytes: Buffer.concat(chunks) };
}

type ReadKey = { kind: 'none' } | { kind: 'key'; key: string } | { kind: 'bad'; problems: Problem[] };

/** A structured string (RFC 9651). */
const QUOTED = /^"((?:[\x20\x21\x23-\x5b\x5d-\x7e]|\\["\\])*)"$/;
const LONGEST = 255;

/** With or without the quotes of the IETF draft it is the same key, so that a repeat through another library does not run again. */
export function idempotencyKeyOf(req: Pick<HonoRequest, 'header'>): ReadKey {
  const given = req.header('idempotency-key');
  if (given === undefined) return { kind: 'none' };
  const key = QUOTED.exec(given)?.[1]?.replace(/\\(.)/g, '$1') ?? given;
  if (key.length >= 1 && key.length <= LONGEST) return { kind: 'key', key };
  return { kind: 'bad', problems: [problemAt('Idempotency-Key', 'length', { minimum: 1, maximum: LONGEST })] };
}

/** Aborts when the caller disconnects before the answer was written. `closedByUs` excludes connections that this process closes. */
export function callerLeft(outgoing: ServerResponse, closedByUs: () => boolean): AbortSignal {
  const controller = new AbortController();
  outgoing.once('close', () => {
    if (!outgoing.writableFinished && !closedByUs()) controller.abort();
  });
  if (outgoing.destroyed) controller.abort();
  return controller.signal;
}

// A scene in the place of a rule.

/** The call with its rule; or why its scene names none. */
export type InScene =
  | { kind: 'request'; request: ExecuteRequest }
  | { kind: 'no-rule'; problem: Problem }
  | ({ kind: 'no-worker' } & Refusal);

export type RuleOfScene = (request: AskedRequest) => Promise<InScene>;

/**
 * Puts the rule in the place of the scene that names it: the first one that is released, by id. A worker knows the rules; from here on
 * the call is one for that rule, in the queue, the files and the history.
 */
export function createRuleOfScene({ ask }: Pick<AskWorker, 'ask'>): RuleOfScene {
  return async (request) => {
    const { scene } = request;
    if (scene === null || request.ruleId !== null) return { kind: 'request', request };
    const { app } = request;
    const reply = await ask({ v: QUERY_VERSION, ask: 'rules', app });
    if (reply.kind === 'refused') return { ...reply, kind: 'no-worker' };
    const { items } = readAs(ruleListSchema, reply.body);
    const rule = items.find(({ status, scenes }) => scenes.includes(scene) && status !== null && BigInt(status) >= 0n);
    return rule
      ? { kind: 'request', request: { ...request, ruleId: BigInt(rule.ruleId) } }
      : { kind: 'no-rule', problem: problemAt('scene', 'scene-without-rule', { app }) };
  };
}
