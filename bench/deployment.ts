import { freePort, startRedis, startService, stop, untilReady } from './processes.ts';

/** An API and a worker on a Redis of their own, until they are disposed of. The settings name the shared directory. */
export async function startDeployment(settings: { SHARED_DIR: string; [setting: string]: string }) {
  const [redisPort, PORT] = [await freePort(), String(await freePort())];
  const redis = startRedis(redisPort);
  const common = { REDIS_URL: `redis://127.0.0.1:${redisPort}`, MAX_WAITS_PER_CLIENT: '5000', ...settings };
  const api = startService('api', { ...common, PORT });
  const worker = startService('worker', common);
  const url = `http://127.0.0.1:${PORT}`;
  await untilReady(`${url}/readyz`);
  return {
    url,
    worker,
    [Symbol.asyncDispose]: (): Promise<void> => stop(api, worker, redis),
  };
}
