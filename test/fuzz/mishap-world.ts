import { limitedRoot } from '../support/limited-root.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { type RedisProxy, startRedisProxy } from '../support/redis-proxy.ts';
import { type ApiProcess, startApiProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';

/** Longer than all the trouble of a call takes together. While a call may wait in the queue nothing but a repeat frees its key. */
const settings = { RESULT_TIMEOUT_MS: 12_000, QUEUE_TIMEOUT_MS: 10_000, POLL_INTERVAL_MS: 100 };

/** Two APIs, one of them with connections that can be broken, and two workers that may do only what the modes of files allow. */
export type MishapWorld = {
  processes: Processes;
  direct: ApiProcess;
  behindProxy: ApiProcess;
  proxy: RedisProxy;
  secrets: string[];
  /** Starts a worker and stops the one that is there longest. */
  replaceWorker(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

export async function startMishapWorld(): Promise<MishapWorld> {
  const redis = await startRedisProcess({ appendOnly: true });
  const proxy = await startRedisProxy(redis.url);
  const processes = await startProcesses({ queueUrl: redis.url, settings, apis: 1, workers: 0 });
  const addWorker = () => processes.addWorker({ under: limitedRoot });
  const [behindProxy] = await Promise.all([
    startApiProcess({ queueUrl: proxy.url, settings }),
    addWorker(),
    addWorker(),
  ]);
  processes.apis.push(behindProxy);
  return {
    processes,
    direct: processes.api,
    behindProxy,
    proxy,
    secrets: [processes.sharedDir, new URL(redis.url).host, new URL(proxy.url).host],
    async replaceWorker() {
      await addWorker();
      await processes.workers.find(({ isRunning }) => isRunning)?.terminate();
    },
    async [Symbol.asyncDispose]() {
      await processes[Symbol.asyncDispose]();
      await proxy[Symbol.asyncDispose]();
      await redis.stop();
    },
  };
}
