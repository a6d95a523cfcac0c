import type { Server } from 'node:http';
import { createAdaptorServer } from '@hono/node-server';
import type { Hono } from 'hono';
import { apiWaitMs, type Settings } from '../../shared/runtime/settings.ts';
import type { Environment } from './environment.ts';

const LOOK_FOR_IDLE_MS = 100;
/** Beside calls that wait there are pages, event streams and probes. */
const CONNECTIONS_BESIDE_CALLS = 4000;

/** A burst of calls waits to be accepted: beyond the default of 511 each would try again a second later, or three. */
const BACKLOG = 4096;

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

/**
 * Serves an app over HTTP. Resolves once it listens; rejects when it cannot. `silentMs`: a connection on which nothing was
 * sent or read for so long is cut.
 */
export async function serveHttp(
  app: Hono<Environment>,
  { HOST, PORT, MAX_QUEUED, ...waits }: Listening,
  { limits = HTTP_LIMITS, silentMs = apiWaitMs(waits) + SILENT_BEYOND_WAIT_MS } = {},
) {
  const server = createAdaptorServer({ fetch: app.fetch, serverOptions: limits }) as Server;
  server.timeout = silentMs;
  server.maxConnections = MAX_QUEUED + CONNECTIONS_BESIDE_CALLS;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port: PORT, host: HOST, backlog: BACKLOG }, () => {
      server.off('error', reject);
      resolve();
    });
  });

  return {
    url: urlOf(server, HOST),
    /** Takes no more connections and waits for the open calls; after `graceMs` it calls `onLate` and cuts them off. */
    async drain(graceMs: number, onLate: () => void): Promise<void> {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      // close() ends idle connections once; those that fall idle later are asked again.
      const idle = setInterval(() => server.closeIdleConnections(), LOOK_FOR_IDLE_MS);
      const late = setTimeout(() => {
        onLate();
        server.closeAllConnections();
      }, graceMs);
      await closed;
      clearInterval(idle);
      clearTimeout(late);
    },
  };
}

function urlOf(server: Server, host: string): string {
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;
  const shown = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `http://${shown.includes(':') ? `[${shown}]` : shown}:${port}`;
}
