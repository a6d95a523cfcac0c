import { rm } from 'node:fs/promises';
import { freePort, startRedis, startScript, startService, stop, untilReady } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

type DeploymentSettings = { SHARED_DIR: string; [setting: string]: string };

/**
 * An API and a worker on a Redis of their own, until they are disposed of. The settings name the shared directory. `checkout`: where
 * the service is, if it is not this one.
 */
export async function startDeployment(settings: DeploymentSettings, checkout?: string) {
  const [redisPort, PORT] = [await freePort(), String(await freePort())];
  const redis = startRedis(redisPort);
  const common = { REDIS_URL: `redis://127.0.0.1:${redisPort}`, MAX_WAITS_PER_CLIENT: '5000', ...settings };
  const api = startService('api', { ...common, PORT }, checkout);
  const worker = startService('worker', common, checkout);
  const url = `http://127.0.0.1:${PORT}`;
  await untilReady(`${url}/readyz`);
  return {
    url,
    worker,
    processes: { api, worker, redis },
    [Symbol.asyncDispose]: (): Promise<void> => stop(api, worker, redis),
  };
}

/** A deployment of a checkout with a shared directory of its own, and a client that answers at once. */
export async function startAnswered(checkout: string, kind: 'own' | 'published' = 'own') {
  const sharedDir = await makeSharedDir();
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench', '0', kind]);
  const { url, processes, ...deployment } = await startDeployment({ SHARED_DIR: sharedDir }, checkout);
  const tearDown = async () => {
    await deployment[Symbol.asyncDispose]();
    await stop(responder);
    await rm(sharedDir, { recursive: true });
  };
  return { url, processes, tearDown };
}
