import { once } from 'node:events';
import type { Server } from 'node:http';
import { createServer as createTcpServer, type ListenOptions, type Socket, type Server as TcpServer } from 'node:net';
import { setTimeout as sleep, setImmediate as turnOfLoop } from 'node:timers/promises';
import { getRequestListener, RequestError } from '@hono/node-server';
import type { Hono } from 'hono';
import { createHttpServer } from '../../../shared/runtime/http-refusals.ts';
import { apiWaitMs, type Settings } from '../../../shared/runtime/settings/settings.ts';
import type { Environment } from '../environment.ts';
import { problem } from '../respond.ts';
import type { RefuseEarly } from './refuse-early.ts';

const CHECK_IDLE_MS = 100;
/** A stopping process waits until this many checks in a row saw no request, and at most this long. */
const CHECK_CALLERS_MS = 100;
const QUIET_CHECKS = 4;
const QUIET_WITHIN_MS = 3000;
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
      const idle = setInterval(() => {
        for (const server of servers) server.closeIdleConnections();
      }, CHECK_IDLE_MS);
      const late = setTimeout(() => {
        onLate();
        for (const server of servers) server.closeAllConnections();
      }, graceMs);
      await closed;
      clearInterval(idle);
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
      const until = performance.now() + QUIET_WITHIN_MS;
      for (let quietChecks = 0; quietChecks < QUIET_CHECKS && performance.now() < until; ) {
        const before = count;
        await sleep(CHECK_CALLERS_MS);
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
