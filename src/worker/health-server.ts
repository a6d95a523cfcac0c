import { createServer } from 'node:http';
import type { Settings } from '../shared/settings.ts';
import type { RunningWorker } from './start.ts';

/** /healthz: the process lives. /readyz: it takes jobs, or why not. Off when `WORKER_PORT` is 0. */
export async function startHealthServer(
  { HOST, WORKER_PORT }: Settings,
  worker: RunningWorker,
): Promise<{ stop(): Promise<void> }> {
  if (WORKER_PORT === 0) return { stop: async () => {} };
  const server = createServer((request, response) => {
    const { takesJobs, reason } = worker.state();
    const answers = new Map([
      ['/healthz', { status: 200, body: { status: 'ok' } }],
      ['/readyz', { status: takesJobs ? 200 : 503, body: { status: takesJobs ? 'ready' : 'not ready', reason } }],
    ]);
    const { status, body } = answers.get(request.url ?? '') ?? {
      status: 404,
      body: { error: 'There is nothing here.' },
    };
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
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
