import type { ChildProcess } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { benchPlace, freePort, startRedis, startScript, startService, stop, untilReady } from './processes.ts';

export type Deployment = { apis: ChildProcess[]; urls: string[]; workers: ChildProcess[]; client: ChildProcess };
export type Machine = Awaited<ReturnType<typeof startMachine>>;

/**
 * One deployment for each number of workers, all on one Redis, each with its own prefix and shared directory. All of them stay up, so
 * that one configuration follows another without a start: only the load moves.
 */
export async function startMachine(mostApis: number, mostWorkers: number) {
  const folder = await mkdtemp(join(benchPlace(), 'rule-server-bench-'));
  const port = await freePort();
  const redis = startRedis(port);
  const deployments: Deployment[] = [];
  for (let workers = 1; workers <= mostWorkers; workers++) {
    const SHARED_DIR = join(folder, String(workers));
    await mkdir(join(SHARED_DIR, 'mock'), { recursive: true });
    const settings = { REDIS_URL: `redis://127.0.0.1:${port}`, QUEUE_PREFIX: `workers-${workers}`, SHARED_DIR };
    deployments.push(await startDeployment(mostApis, workers, settings));
  }
  return {
    deployments,
    redis,
    folder,
    async end(): Promise<void> {
      for (const { apis, workers, client } of deployments) await stop(client, ...apis, ...workers);
      await stop(redis);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startDeployment(apis: number, workers: number, settings: { SHARED_DIR: string }): Promise<Deployment> {
  const { child: client } = await startScript('./responder.ts', [settings.SHARED_DIR, '1', 'bench']);
  const ports = await Promise.all(Array.from({ length: apis }, freePort));
  const environment = { ...settings, MAX_WAITS_PER_CLIENT: '5000' };
  const started = {
    client,
    urls: ports.map((port) => `http://127.0.0.1:${port}`),
    apis: ports.map((port) => startService('api', { ...environment, PORT: String(port) })),
    workers: Array.from({ length: workers }, () => startService('worker', environment)),
  };
  await Promise.all(started.urls.map((url) => untilReady(`${url}/readyz`, 60_000)));
  return started;
}
