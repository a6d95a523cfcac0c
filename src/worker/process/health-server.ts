import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Keyring } from '../../shared/runtime/access/keyring.ts';
import { createHttpServer, refusalOf, sendProblem } from '../../shared/runtime/http-refusals.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { Metrics } from '../../shared/runtime/telemetry/metrics.ts';
import type { RunningWorker } from './start.ts';

/** Probes and scrapes are few, short and quick. */
const LIMITS = {
  headersTimeout: 5000,
  requestTimeout: 5000,
  connectionsCheckingInterval: 2000,
  maxHeaderSize: 8 * 1024,
};
const MAX_CONNECTIONS = 100;

type HealthServerDependencies = { worker: RunningWorker; metrics: Metrics; keyring: Keyring };

/**
 * Serves three paths, unless `WORKER_PORT` is 0. /healthz says that the process lives. /readyz says whether it takes jobs, and
 * why not. /metrics needs a key that may `ops` if there are keys.
 */
export async function startHealthServer(
  { HOST, WORKER_PORT }: Pick<Settings, 'HOST' | 'WORKER_PORT'>,
  { worker, metrics: { registry }, keyring }: HealthServerDependencies,
): Promise<{ stop(): Promise<void> }> {
  if (WORKER_PORT === 0) return { stop: async () => {} };

  const server = createHttpServer(LIMITS, (request, response) => {
    answer(request, response).catch(() => sendProblem(response, refusalOf('internal-error', {})));
  });
  server.maxConnections = MAX_CONNECTIONS;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [{ takesJobs, reason }, store] = [worker.state(), worker.store()];
    const ready = takesJobs && store.up;
    switch (request.url?.split('?')[0]) {
      case '/healthz':
        return send(response, 200, { status: 'ok' });
      case '/readyz':
        return send(response, ready ? 200 : 503, {
          status: ready ? 'ready' : 'not ready',
          reason: reason ?? store.reason,
        });
      case '/metrics': {
        const found = keyring.find(keyring.bearerOf(request.headers.authorization) ?? '');
        if (!keyring.isOpen && found.kind !== 'known') return sendProblem(response, refusalOf('key-malformed', {}));
        if (found.kind === 'known' && !found.caller.may.has('ops'))
          return sendProblem(
            response,
            refusalOf('no-permission', {
              permission: 'ops',
              name: `${found.caller.name}`,
              has: [...found.caller.may].join(', '),
            }),
          );
        const text = await registry.metrics();
        response.writeHead(200, { 'content-type': registry.contentType }).end(text);
        return;
      }
      default:
        return sendProblem(response, refusalOf('nothing-there', { path: request.url ?? '' }));
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(WORKER_PORT, HOST, resolve);
  });
  return {
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
