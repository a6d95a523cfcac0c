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

const LOOK_FOR_IDLE_MS = 100;
/** A process that stops waits until this many looks in a row saw no request come, and at most so long. */
const LOOK_FOR_CALLERS_MS = 100;
const QUIET_LOOKS = 4;
const QUIET_WITHIN_MS = 3000;
/** Beside calls that wait there are pages, event streams and probes. */
const CONNECTIONS_BESIDE_CALLS = 4000;

/** A burst of calls waits to be accepted: beyond the default of 511 each would try again a second later, or three. */
const BACKLOG = 4096;

/**
 * The event loop accepts one connection of a listening socket in each turn, and under load a turn takes many milliseconds. So several
 * sockets listen at one port, and the system deals connections out to them (SO_REUSEPORT). Other systems have no such thing, or deal nothing out.
 */
const SOCKETS = process.platform === 'linux' ? 32 : 1;

/** Whole requests must arrive in time; answers may take as long as they take. */
export const HTTP_LIMITS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  connectionsCheckingInterval: 2000,
  keepAliveTimeout: 75_000,
  maxHeaderSize: 16 * 1024,
};

/** A connection without traffic for longer than a call may take is closed: its caller does not read the answer. */
const SILENT_BEYOND_WAIT_MS = 20_000;

type Listening = Pick<Settings, 'HOST' | 'PORT' | 'MAX_QUEUED' | 'QUEUE_TIMEOUT_MS' | 'RESULT_TIMEOUT_MS'>;

type Options = {
  limits?: Partial<typeof HTTP_LIMITS>;
  silentMs?: number;
  /** Answers a request before the app sees it, and returns true; or returns false. */
  refuses?: RefuseEarly;
};
const nothing = () => false;

/**
 * Serves an app over HTTP. Resolves once it listens; rejects when it cannot. `silentMs`: a connection on which nothing was
 * sent or read for so long is cut.
 */
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
     * Waits until no request comes any more, which the app refuses by now; then takes no more connections and waits for the open calls.
     * After `graceMs` it calls `onLate` and cuts them off.
     */
    async drain(graceMs: number, onLate: () => void): Promise<void> {
      await requests.quiet();
      const closed = Promise.all(servers.map(close));
      // close() ends idle connections once; those that fall idle later are asked again.
      const idle = setInterval(() => {
        for (const server of servers) server.closeIdleConnections();
      }, LOOK_FOR_IDLE_MS);
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

/** The answer to an address or a Host header of which no URL can be made. */
function refuseUnusable(error: unknown): Response {
  return error instanceof RequestError
    ? problem('unusable-address', {}, CLOSED)
    : problem('internal-error', {}, CLOSED);
}

/** Ends a connection that comes when there are so many already. */
function countConnections(most: number): (connection: Socket) => void {
  let open = 0;
  return (connection) => {
    if (open >= most) return void connection.destroy();
    open++;
    connection.once('close', () => open--);
  };
}

/**
 * Knows when the last request came. Requests that are on their way when a process stops are in buffers of the system: closing the
 * connections now would cut them off unread, and their callers could not tell whether they ran.
 */
function watchRequests() {
  let count = 0;
  return {
    came(): void {
      count++;
    },
    /** Counts looks and not time: while a process is busy time passes, and nobody can come. */
    async quiet(): Promise<void> {
      const until = performance.now() + QUIET_WITHIN_MS;
      for (let quietLooks = 0; quietLooks < QUIET_LOOKS && performance.now() < until; ) {
        const before = count;
        await sleep(LOOK_FOR_CALLERS_MS);
        await readWhatArrived();
        quietLooks = count === before ? quietLooks + 1 : 0;
      }
    },
  };
}

/**
 * After the event loop stood still its timers come first, and requests that arrived meanwhile are unread. One turn accepts connections, the
 * next one reads from them.
 */
async function readWhatArrived(): Promise<void> {
  await turnOfLoop();
  await turnOfLoop();
}

/** Resolves to the port at which all of them listen. Rejects also when another process listens there and would share it. */
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

/** Resolves to its port, which the system chooses for 0. */
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
