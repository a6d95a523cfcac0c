import { once } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer as createTcpServer, type ListenOptions, type Socket, type Server as TcpServer } from 'node:net';
import { setTimeout as sleep, setImmediate as turnOfLoop } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import type { NoAnswer } from '../../../shared/contract/endings/no-answer.ts';
import { noAnswerBody } from '../../../shared/contract/execution-record.ts';
import { random } from '../../../shared/ports/process.ts';
import { retryAfterOf } from '../../../shared/reasons/endings.ts';
import type { Audit } from '../../../shared/runtime/access/audit.ts';
import type { Keyring } from '../../../shared/runtime/access/keyring.ts';
import { STOP_WITHIN_MS, together } from '../../../shared/runtime/async.ts';
import { createHttpServer } from '../../../shared/runtime/http-refusals.ts';
import { apiWaitMs, type Settings } from '../../../shared/runtime/settings/settings.ts';
import type { Logger } from '../../../shared/runtime/telemetry/logger.ts';
import type { Metrics } from '../../../shared/runtime/telemetry/metrics.ts';
import { every } from '../../../shared/runtime/upkeep.ts';
import type { RequestMetrics } from '../../api-metrics.ts';
import type { Environment } from '../environment.ts';
import { problem, REFUSALS_MS } from '../respond.ts';

/** A stopping process checks this often for requests and idle connections, and waits until so many checks in a row saw no request. */
const STOPPING_CHECK_MS = 100;
const QUIET_CHECKS = 4;
/** Room for pages, event streams and probes beside open calls. */
const CONNECTIONS_BESIDE_CALLS = 4000;

/** A burst waits in the accept queue. Beyond Node's default of 511 the kernel drops connections, which are retried after 1 or 3 s. */
const BACKLOG = 4096;

/**
 * Node accepts one connection per listening socket and turn of the event loop, and under load a turn takes many milliseconds. So several
 * sockets share the port (SO_REUSEPORT), and Linux distributes connections among them; other systems do not.
 */
const SOCKETS = process.platform === 'linux' ? 32 : 1;

/** Limits the arrival of requests, not the time of answers. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16 * 1024,
};

/** A connection that is silent for longer than a call may take is closed: its caller does not read the answer. */
const SILENT_BEYOND_WAIT_MS = 20_000;

type Listening = Pick<Settings, 'HOST' | 'PORT' | 'MAX_QUEUED' | 'QUEUE_TIMEOUT_MS' | 'RESULT_TIMEOUT_MS'>;

type Options = {
  limits?: Partial<typeof HTTP_LIMITS>;
  silentMs?: number;
  /** Answers a request before the app sees it, and returns true; or returns false. */
  refuses?: RefuseEarly;
};
const nothing = () => false;

/** Resolves once it listens. `silentMs`: a connection without traffic for this long is closed. */
export async function serveHttp(
  app: Hono<Environment>,
  { HOST, PORT, MAX_QUEUED, ...waits }: Listening,
  { limits = HTTP_LIMITS, silentMs = apiWaitMs(waits) + SILENT_BEYOND_WAIT_MS, refuses = nothing }: Options = {},
) {
  const serve = getRequestListener(app.fetch, { hostname: 'localhost', errorHandler: refuseUnusable });
  const requests = watchRequests();
  const admit = countConnections(MAX_QUEUED + CONNECTIONS_BESIDE_CALLS);
  const servers = Array.from({ length: SOCKETS }, () => {
    const server = createHttpServer(limits, (incoming, outgoing) => {
      requests.came();
      if (!refuses(incoming, outgoing)) void serve(incoming, outgoing);
    });
    server.timeout = silentMs;
    server.on('connection', admit);
    return server;
  });
  const port = await listen(servers, { port: PORT, host: HOST });

  return {
    url: urlOf(port, HOST),
    /**
     * Graceful stop: waits until no request arrives any more, closes the listeners and waits for open calls. After `graceMs` it calls
     * `onLate` and closes their connections.
     */
    async drain(graceMs: number, onLate: () => void): Promise<void> {
      await requests.quiet();
      const closed = Promise.all(servers.map(close));
      // close() ends idle connections only once; those that become idle later are closed here.
      const closeIdle = () => servers.forEach((server) => void server.closeIdleConnections());
      const idle = every(STOPPING_CHECK_MS, closeIdle, () => {});
      const late = setTimeout(() => {
        onLate();
        for (const server of servers) server.closeAllConnections();
      }, graceMs);
      await closed;
      await idle.stop();
      clearTimeout(late);
    },
  };
}

const CLOSED = { headers: { connection: 'close' } };

function refuseUnusable(error: unknown): Response {
  return error instanceof RequestError
    ? problem('unusable-address', {}, CLOSED)
    : problem('internal-error', {}, CLOSED);
}

function countConnections(most: number): (connection: Socket) => void {
  let open = 0;
  return (connection) => {
    if (open >= most) return void connection.destroy();
    open++;
    connection.once('close', () => open--);
  };
}

/**
 * Detects when requests stop arriving. At a stop some are still in kernel buffers: closing their connections now would drop them unread,
 * and their callers could not tell whether they ran.
 */
function watchRequests() {
  let count = 0;
  return {
    came(): void {
      count++;
    },
    /** Counts checks instead of time: while the event loop is blocked, time passes without a chance for requests to arrive. */
    async quiet(): Promise<void> {
      const until = performance.now() + STOP_WITHIN_MS;
      for (let quietChecks = 0; quietChecks < QUIET_CHECKS && performance.now() < until; ) {
        const before = count;
        await sleep(STOPPING_CHECK_MS);
        await readWhatArrived();
        quietChecks = count === before ? quietChecks + 1 : 0;
      }
    },
  };
}

/** After a blocked event loop timers run before input. One turn accepts connections, the next one reads from them. */
async function readWhatArrived(): Promise<void> {
  await turnOfLoop();
  await turnOfLoop();
}

/** Resolves to the shared port. Rejects if another process listens there, which SO_REUSEPORT would allow. */
async function listen(servers: readonly Server[], { port, host }: { port: number; host: string }): Promise<number> {
  const reusePort = servers.length > 1;
  if (reusePort && port !== 0) {
    const alone = createTcpServer();
    await listenAt(alone, { port, host });
    await close(alone);
  }
  let shared = port;
  for (const server of servers) shared = await listenAt(server, { port: shared, host, reusePort });
  return shared;
}

async function listenAt(server: TcpServer, where: ListenOptions): Promise<number> {
  await once(server.listen({ ...where, backlog: BACKLOG }), 'listening');
  const address = server.address();
  return typeof address === 'object' && address ? address.port : 0;
}

const close = (server: TcpServer) => new Promise<void>((resolve) => void server.close(() => resolve()));

function urlOf(port: number, host: string): string {
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}

// Refusals for load, before the app sees the call.

const EXECUTE = '/rule-server/mock/execute';
/** A body up to this size is read to its end, and the connection serves on. Behind a larger one it is closed. */
const READ_BYTES = 64 * 1024;
/** A caller that still sends its body has so long to read the answer. A connection that is closed before loses the answer. */
const LINGER_MS = 2000;

type RefuseEarlyDependencies = {
  keyring: Keyring;
  /** Why no call is begun now; undefined also where somebody else says why not. */
  whyNot: () => NoAnswer | undefined;
  metrics: Pick<Metrics, 'refused'>;
  /** Counts a request by its route and status. */
  count: RequestMetrics['count'];
  log: Logger;
  audit: Audit;
};

type RefuseEarly = ReturnType<typeof refuseEarly>;

/**
 * Refuses plain calls for load before anything else is done for them, and answers true then. All others go on: with an Idempotency-Key a
 * call may be the repeat of one that runs, and what a browser or a proxy sends needs more looks than these. They are refused when they begin.
 */
export function refuseEarly({ keyring, whyNot, metrics, count, log, audit }: RefuseEarlyDependencies) {
  const tell = tellOnceASecond(log, audit);

  return (incoming: IncomingMessage, outgoing: ServerResponse): boolean => {
    const noAnswer = isPlainCall(incoming) ? whyNot() : undefined;
    if (!noAnswer) return false;
    const keyName = keyNameOf(incoming, keyring);
    if (keyName === undefined) return false;
    incoming.on('error', () => {}).resume();
    setTimeout(answer, REFUSALS_MS, incoming, outgoing, noAnswer);
    metrics.refused(noAnswer.code);
    count({ route: EXECUTE, method: 'POST', status: 503 });
    tell(keyName);
    return true;
  };
}

function isPlainCall({ method, url, headers }: IncomingMessage): boolean {
  return (
    method === 'POST' &&
    url === EXECUTE &&
    headers['idempotency-key'] === undefined &&
    headers.origin === undefined &&
    headers.cookie === undefined
  );
}

/** The name of the key, null where none is needed; undefined where only the whole way in can tell who this is. */
function keyNameOf({ headers }: IncomingMessage, keyring: Keyring): string | null | undefined {
  if (keyring.isOpen) return null;
  const key = keyring.bearerOf(headers.authorization);
  const found = key === undefined ? undefined : keyring.find(key);
  return found?.kind === 'known' ? found.caller.name : undefined;
}

/** Answers while the rest of the request is read and thrown away. */
function answer(incoming: IncomingMessage, outgoing: ServerResponse, noAnswer: NoAnswer): void {
  const body = noAnswerBody(random.uuid(), noAnswer);
  const isSmall = Number(incoming.headers['content-length'] ?? Number.POSITIVE_INFINITY) <= READ_BYTES;
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'retry-after': String(retryAfterOf(noAnswer)),
    'cache-control': 'no-store',
  };
  outgoing.writeHead(503, isSmall ? headers : { ...headers, connection: 'close' });
  if (isSmall || incoming.complete) return void outgoing.end(body);
  outgoing.write(body);
  const end = () => outgoing.end();
  const timer = setTimeout(end, LINGER_MS);
  incoming.once('close', () => clearTimeout(timer)).once('end', end);
}

/** How many calls were refused: a line in the log for all, and one in the audit log for each key. */
function tellOnceASecond(log: Logger, audit: Audit): (who: string | null) => void {
  const refused = new Map<string | null, number>();
  const event = { what: `refused POST ${EXECUTE}`, from: null, outcome: '503 overloaded' };
  const tell = together(REFUSALS_MS, () => {
    const all = [...refused.values()].reduce((sum, calls) => sum + calls, 0);
    log.warn({ refused: all }, 'calls were refused: they come faster than the workers can begin them');
    for (const [who, calls] of refused) audit.tell({ ...event, who, calls });
    refused.clear();
  });
  return (who) => {
    refused.set(who, (refused.get(who) ?? 0) + 1);
    tell();
  };
}
