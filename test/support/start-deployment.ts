import { startRedis } from './redis.ts';
import type { RedisChoice } from './redis-server.ts';
import { type ApiProcess, type ServiceProcess, startApiProcess, startWorkerProcess } from './start-process.ts';

type Options = {
  redis: RedisChoice;
  sharedDir: string;
  settings?: Record<string, string | number>;
  workers?: number;
};

/** An API and workers in processes of their own, with a Redis of their own. The first worker is `worker`. */
export async function startDeployment({ redis: choice, sharedDir, settings = {}, workers = 1 }: Options): Promise<{
  api: ApiProcess;
  worker: ServiceProcess;
  [Symbol.asyncDispose](): Promise<void>;
}> {
  await using starting = new AsyncDisposableStack();
  const redis = await startRedis(choice);
  starting.defer(() => redis.stop());
  const common = { queueUrl: redis.url, settings };
  const api = starting.use(await startApiProcess(common));
  const worker = starting.use(await startWorkerProcess({ ...common, sharedDir }));
  for (let more = 1; more < workers; more++) starting.use(await startWorkerProcess({ ...common, sharedDir }));
  const started = starting.move();
  return { api, worker, [Symbol.asyncDispose]: () => started.disposeAsync() };
}
