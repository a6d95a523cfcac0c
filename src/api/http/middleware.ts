import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Context, MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import { unanswered } from '../../shared/contract/endings/ending.ts';
import { noAnswer } from '../../shared/contract/endings/no-answer.ts';
import { joinMembers, scanJson } from '../../shared/contract/json/exact-json.ts';
import { visible } from '../../shared/contract/json/visible-text.ts';
import { unknownNames } from '../../shared/contract/nearest.ts';
import { readProblem } from '../../shared/contract/problem.ts';
import type { Fault } from '../../shared/reasons/causes.ts';
import { isRefusalCode, refusals } from '../../shared/reasons/refusals.ts';
import { messageOf } from '../../shared/reasons/words.ts';
import type { Audit } from '../../shared/runtime/access/audit.ts';
import { PROBLEM_TYPE, problemBody } from '../../shared/runtime/http-refusals.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import { type QueueHealth, whyAway } from '../queue-health.ts';
import type { Environment } from './environment.ts';
import { isRead, noParameters, parametersOf, readParameters } from './parameters.ts';
import { badRequest, json, problem, respondToEnding } from './respond.ts';

/** Does something about the answer, which is in `context.res`, or returns another one in its place. */
type Leave = () => unknown;
type Entered = Response | Leave | undefined;

/** Sees a request on its way in. Refuses it with a response, or returns what to do with the answer on its way out. */
export type Layer = (context: Context<Environment>) => Entered | Promise<Entered>;

/** Makes one middleware of layers, the outermost first. With a middleware for each, a call that waits would hold the frames of all of them. */
export function layers(...all: Layer[]): MiddlewareHandler<Environment> {
  return async (context, next) => {
    const leaves: Leave[] = [];
    const refusal = await enter(all, context, leaves);
    if (refusal) context.res = refusal;
    else await next();
    for (const leave of leaves.reverse()) {
      const other = await leave();
      if (!(other instanceof Response)) continue;
      context.res = undefined; // else its headers would be laid over those of the other one
      context.res = other;
    }
  };
}

async function enter(
  all: readonly Layer[],
  context: Context<Environment>,
  leaves: Leave[],
): Promise<Response | undefined> {
  for (const layer of all) {
    const entered = layer(context);
    const done = entered instanceof Promise ? await entered : entered;
    if (done instanceof Response) return done;
    if (done) leaves.push(done);
  }
  return undefined;
}

const nothing = async () => {};

/** A middleware of Hono that does everything before the answer is there. */
export const entering =
  (middleware: MiddlewareHandler): Layer =>
  async (context) =>
    (await middleware(context, nothing)) ?? undefined;

/** A middleware of Hono that does everything once the answer is there. */
export const leaving =
  (middleware: MiddlewareHandler): Layer =>
  (context) =>
  () =>
    middleware(context, nothing);

/** Layers of some paths only. */
export function at(paths: RegExp, ...some: Layer[]): Layer[] {
  return some.map((layer) => (context) => (paths.test(context.req.path) ? layer(context) : undefined));
}

/** One log line per request except probes, with the id that the answer carries (`x-request-id`). */
export function logAccess(log: Logger, clientAddress: ClientAddress): Layer {
  return (context) => {
    const startedAt = performance.now();
    context.set('from', clientAddress.of(context.env.incoming));
    return () => {
      const { method, path } = context.req;
      context.res.headers.set('x-request-id', context.var.requestId);
      if (path === '/healthz' || path === '/readyz' || context.var.auditedInBulk) return;
      const ms = Math.round(performance.now() - startedAt);
      const { requestId, from, mockId, code, keyName } = context.var;
      log.info({ requestId, from, mockId, code, keyName, method, path, status: context.res.status, ms }, 'request');
    };
  };
}

const pagePolicy = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'", 'data:'],
  fontSrc: ["'self'"],
  connectSrc: ["'self'"],
  manifestSrc: ["'self'"],
  formAction: ["'none'"],
  baseUri: ["'none'"],
  frameAncestors: ["'none'"],
};

/** Security headers for browsers; a route may override them for its page. */
export function pageHeaders(): Layer {
  const headers = secureHeaders({
    contentSecurityPolicy: pagePolicy,
    referrerPolicy: 'no-referrer',
    xFrameOptions: 'DENY',
    // HSTS is left to the proxy that terminates TLS, because it concerns other names of the host, too.
    strictTransportSecurity: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    xDnsPrefetchControl: false,
    overwrite: false,
  });
  return leaving(headers);
}

/** Nothing may be cached, so that no answer is left after a sign-out, except what sets `cache-control` itself: the console's files. */
export function keepNothing(): Layer {
  return (context) => () => {
    if (!context.res.headers.has('cache-control')) context.res.headers.set('cache-control', 'no-store');
  };
}

/** Refuses compressed bodies (RFC 9110, section 12.5.3), which could expand to any size. */
export function plainBodies(): Layer {
  return ({ req }) => {
    const encoding = req.header('content-encoding')?.trim().toLowerCase() || 'identity';
    if (isRead(req.method) || encoding === 'identity') return undefined;
    return problem('compressed-body', {}, { headers: { 'accept-encoding': 'identity' } });
  };
}

/** Refuses a request that has parameters, where it changes something and takes none. */
export const takesNoParameters = () => layers(refusedParameters);

export function refusedParameters(context: Context<Environment>): Response | undefined {
  const read = readParameters(noParameters, context);
  return read.kind === 'bad' ? badRequest(read.problems) : undefined;
}

/**
 * Names the parameters of a read that its route does not know: in `warnings` of an answer that is a JSON object. An answer in any other
 * form has no place for them, so it becomes a refusal. What changes something was refused before it began (`readParameters`).
 */
export function warnOfParameters(): Layer {
  return (context) => async () => {
    const { req, res } = context;
    if (!isRead(req.method) || res.status >= 300) return undefined;
    const unknown = unknownNames([...parametersOf(context).keys()], context.var.parameters ?? []);
    return unknown.length === 0 ? undefined : withWarnings(res, unknown);
  };
}

async function withWarnings(res: Response, unknown: ReturnType<typeof unknownNames>): Promise<Response> {
  const refused = () => badRequest(unknown);
  if (!res.headers.get('content-type')?.startsWith('application/json')) {
    await res.body?.cancel(); // events would go on
    return refused();
  }
  const answer = scanJson(await res.text());
  if (answer.kind !== 'complete' || answer.type !== 'object') return refused();
  const warnings = unknown.map((each) =>
    JSON.stringify({
      code: 'unknown-parameter',
      params: { name: visible(each.field) },
      message: visible(`${each.field} ${messageOf(each)}`),
    }),
  );
  const before = answer.members
    .find(({ key, kind }) => key === 'warnings' && kind === 'array')
    ?.raw.slice(1, -1)
    .trim();
  const members = answer.members.filter(({ key }) => key !== 'warnings').map(({ key, raw }) => [key, raw] as const);
  const all = `[${[...(before ? [before] : []), ...warnings].join(',')}]`;
  const whole = json(res.status, joinMembers([...members, ['warnings', all]]));
  for (const [name, value] of res.headers) if (name !== 'content-length') whole.headers.set(name, value);
  return whole;
}

/** Refusals because of the call itself, or after the record of its key was read: whatever an earlier call did, this one cannot run. */
const OF_THE_CALL = new Set<string>([
  ...['bad-request', 'key-reused', 'body-too-large', 'foreign-type', 'compressed-body', 'wrong-method'],
  ...['too-many-batches', 'no-room-for-batch', 'nobody-to-run-batch', 'unknown-batch', 'batch-gone', 'batch-not-kept'],
  ...['no-saved-cases', 'cases-unusable', 'cases-file-unusable'],
]);

/**
 * Adds `mayHaveRun` to each refusal of a call: false, unless the service failed or an earlier call under its Idempotency-Key may have run.
 * Then a 503, which invites a repeat, becomes a 504.
 */
export const tellWhetherItRan = (): Layer => {
  return (context) => async () => {
    const { req, res } = context;
    if (req.method !== 'POST' || res.headers.get('content-type') !== PROBLEM_TYPE) return;
    const { code, params = {}, errors, mayHaveRun: known } = readProblem(await res.clone().text());
    if (code === undefined || !isRefusalCode(code) || known !== undefined) return;
    const isKeyed = req.header('idempotency-key') !== undefined;
    const mayHaveRun = code === 'internal-error' || (isKeyed && !OF_THE_CALL.has(code));
    const status = mayHaveRun && refusals[code].status === 503 ? 504 : res.status;
    const headers = new Headers(res.headers);
    headers.delete('content-length');
    return new Response(problemBody({ code, params, ...(errors && { errors }) }, { status, mayHaveRun }), {
      status,
      headers,
    });
  };
};

/** `starting`: not ready yet. `leaving`: calls are taken, and `/readyz` says that this process stops. `stopping`: open calls finish, new ones are refused. `closing`: open ones are cut off. */
export type Phase = 'starting' | 'running' | 'leaving' | 'stopping' | 'closing';

const TAKES_CALLS = new Set<Phase>(['starting', 'running', 'leaving']);

export function wrongMethod(method: string, allowed: string[]): Response {
  return problem('wrong-method', { method, allowed: allowed.join(', ') }, { headers: { allow: allowed.join(', ') } });
}

export function refuseWhileStopping(phase: () => Phase, { refused }: Pick<Metrics, 'refused'>): Layer {
  return (context) => {
    if (TAKES_CALLS.has(phase())) return undefined;
    const isCall = context.req.path.endsWith('/execute');
    if (isCall) refused('stopping');
    const response = isCall
      ? respondToEnding(context, randomUUID(), unanswered(stoppingOf(context)))
      : problem('process-stopping', {});
    response.headers.set('connection', 'close');
    return response;
  };
}

/** For a call under a key, an earlier one may have run. */
function stoppingOf({ req }: Context<Environment>) {
  return noAnswer(req.header('idempotency-key') === undefined ? 'stopping' : 'stopping-for-keyed', {});
}

/** Refuses at once, because a store that hangs would keep the caller waiting. */
export function refuseWithoutStore(health: QueueHealth): Layer {
  return () => (health.up ? undefined : withoutStore(health.full));
}

/** Refuses a request that needs the queue store. `full`: why the store has no room, if so. */
export function withoutStore(full: Fault | null = null): Response {
  return problem('store-away', whyAway(full));
}

// What the audit log is told.

const RUNS = ['/rule-server/mock/execute', '/ice-server/mock/execute'];
const EXECUTION = /^\/rule-server\/mock\/executions\/([0-9a-f-]{36})$/;

/** Writes runs, cancels, reads of inputs, other changes, sign-ins and refusals to the audit log. */
export function auditRequests(audit: Audit): Layer {
  return (context) => () => {
    const what = context.var.auditedInBulk ? undefined : whatWas(context);
    if (what === undefined) return;
    const { from, keyName, mockId, code, about, searchedPaths: paths } = context.var;
    const { status } = context.res;
    audit.tell({
      what,
      who: keyName ?? null,
      from,
      ...about,
      paths,
      mockId: mockId ?? EXECUTION.exec(context.req.path)?.[1],
      outcome: code === undefined ? String(status) : `${status} ${code}`,
    });
  };
}

function whatWas(context: Context<Environment>): string | undefined {
  const { method, path } = context.req;
  const { status } = context.res;
  if (status === 401) return 'failed sign-in';
  if (status === 403 || status === 429) return `refused ${method} ${path}`;
  if (path === '/session' && method !== 'GET') return method === 'DELETE' ? 'sign-out' : 'sign-in';
  if (RUNS.includes(path)) return 'run';
  if (EXECUTION.test(path))
    return method === 'DELETE' ? (context.req.query('erase') === 'true' ? 'erase' : 'cancel') : 'read of an input';
  if (context.var.readsInput) return 'read of inputs';
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS' ? undefined : `${method} ${path}`;
}

// The host that was asked for.

/** Probes use any name, and their answers reveal nothing. */
const OPEN_PATHS = new Set(['/healthz', '/readyz']);
/** Reserved names (RFC 6761, RFC 6762, RFC 9476), which no foreign page can have. */
const PRIVATE = /(^|\.)(localhost|local|internal|test|home\.arpa)$/;

type Options = { host: string; hasKeys: boolean; origins: readonly string[] };

/**
 * Prevents DNS rebinding: a page can let its own name resolve to this server's address and then counts as the same origin, but the Host
 * header still has its name.
 */
export function checkHost({ host, hasKeys, origins }: Options): Layer {
  const listed = new Set(origins.map((origin) => new URL(origin).hostname));
  const own = isLoopback(host) ? isLoopback : isReachableAs(hasKeys);
  return (context) => {
    const given = nameIn(context.req.header('host'));
    if (!given || OPEN_PATHS.has(context.req.path) || listed.has(given) || own(given)) return undefined;
    return problem('unknown-host', { host: given });
  };
}

function isLoopback(name: string): boolean {
  return (
    name === 'localhost' ||
    name.endsWith('.localhost') ||
    name === '[::1]' ||
    name === '::1' ||
    /^127(\.\d{1,3}){3}$/.test(name)
  );
}

/** With keys any name is accepted, because a foreign page has no key. */
function isReachableAs(hasKeys: boolean) {
  return (name: string) =>
    hasKeys || !name.includes('.') || isIP(name.replace(/^\[|\]$/g, '')) !== 0 || PRIVATE.test(name);
}

function nameIn(header: string | undefined): string | undefined {
  return header?.replace(/:\d*$/, '').toLowerCase();
}

// The address of the caller.

export type ClientAddress = ReturnType<typeof createClientAddress>;

/** The caller's address. `X-Forwarded-For` is used only behind TRUSTED_PROXIES. */
export function createClientAddress(proxies: readonly string[]) {
  const trusted = new BlockList();
  for (const proxy of proxies) {
    const [address = '', bits] = proxy.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) trusted.addAddress(address, family);
    else trusted.addSubnet(address, Number(bits), family);
  }
  const isTrusted = (address: string) =>
    isIP(address) !== 0 && trusted.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');
  const peerOf = ({ socket }: IncomingMessage) => plain(socket.remoteAddress ?? '');

  return {
    isFromProxy: (incoming: IncomingMessage) => isTrusted(peerOf(incoming)),
    /** The last address on the way that is not a trusted proxy. */
    of(incoming: IncomingMessage): string {
      let address = peerOf(incoming);
      const forwarded = String(incoming.headers['x-forwarded-for'] ?? '')
        .split(',')
        .reverse();
      for (const before of forwarded) {
        const next = plain(before.trim());
        if (!isTrusted(address) || isIP(next) === 0) break;
        address = next;
      }
      return address;
    },
  };
}

/** Unwraps IPv4-mapped IPv6 addresses. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, '');
}

// How an answer is sent.

/** Whether an `Accept-Encoding` header accepts an encoding, by name or `*`, with a weight above 0 (RFC 9110). */
export function accepts(header: string | undefined, encoding: string): boolean {
  const offers = (header ?? '')
    .toLowerCase()
    .split(',')
    .map((offer) => offer.split(';').map((part) => part.trim()));
  const offer = offers.find(([name]) => name === encoding) ?? offers.find(([name]) => name === '*');
  return offer !== undefined && !offer.slice(1).some((weight) => /^q=0(\.0*)?$/.test(weight));
}

const compress = promisify(gzip);
const WORTH_IT_BYTES = 1024;
const LEVEL = 4;

/**
 * Answers to reads go out compressed to callers that take gzip, if they are JSON above 1 KiB. Never events: they would wait in the
 * compressor. Never the answer of a call that ran a rule: it would take longer, and it is held in memory only once.
 */
export function compressJson(): Layer {
  return (context) => async () => {
    const { res, req } = context;
    if (req.method !== 'GET') return;
    const type = res.headers.get('content-type') ?? '';
    if (!/^application\/(problem\+)?json\b/.test(type) || res.body === null || res.headers.has('content-encoding'))
      return;
    if (!accepts(req.header('accept-encoding'), 'gzip')) return;
    const body = Buffer.from(await res.arrayBuffer());
    const headers = new Headers(res.headers);
    headers.append('vary', 'accept-encoding');
    headers.delete('content-length');
    const worth = body.byteLength > WORTH_IT_BYTES;
    if (worth) headers.set('content-encoding', 'gzip');
    const sent = worth ? await compress(body, { level: LEVEL }) : body;
    return new Response(new Uint8Array(sent), { status: res.status, headers });
  };
}

/**
 * An answer to a GET has a tag of its content; a caller that has it already is told so in 304 instead of sending it again (RFC
 * 9110).
 */
export function tagAnswers(): Layer {
  return (context) => async () => {
    const { res, req } = context;
    if (req.method !== 'GET' || res.status !== 200 || res.body === null) return;
    const body = Buffer.from(await res.arrayBuffer());
    const etag = `W/"${createHash('sha1').update(body).digest('base64url')}"`;
    const headers = new Headers(res.headers);
    headers.set('etag', etag);
    headers.set('cache-control', 'private, no-cache');
    const known = (req.header('if-none-match') ?? '').split(',').some((tag) => tag.trim() === etag);
    if (known) headers.delete('content-type');
    return new Response(known ? null : body, { status: known ? 304 : 200, headers });
  };
}
