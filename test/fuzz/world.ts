import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import type { ApiProcess, ServiceProcess } from '../support/start-process.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';
import { type Action, RESULT_TIMEOUT_MS } from './scenario.ts';

const QUEUE_TIMEOUT_MS = 10_000;
const WORKERS = 2;

export type World = {
  processes: Processes;
  /** What no answer may tell. */
  secrets: string[];
  /** The one that `which` means, among those that run; one that was killed comes back. */
  api(which: number): Promise<ApiProcess>;
  /** Does it, and undoes what is not for good. */
  act(action: Action): Promise<void>;
  /** Starts what was killed, and waits until everybody can work. */
  mend(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Real processes on a real Redis, for many scenarios: only what was killed is started again. */
export async function startWorld(apis: number): Promise<World> {
  const redis = await startRedisProcess({ appendOnly: true });
  const settings = {
    RESULT_TIMEOUT_MS,
    QUEUE_TIMEOUT_MS,
    POLL_INTERVAL_MS: 250,
    CLIENT_TIMEOUT_MS: 20_000,
  };
  const processes = await startProcesses({ queueUrl: redis.url, settings, apis, workers: WORKERS });
  const frozen = new Set<ServiceProcess>();
  /** One thing at a time happens to the store. */
  let store = Promise.resolve();

  const chosen = <P extends ServiceProcess>(all: P[], which: number): P | undefined => {
    const running = all.filter((each) => each.isRunning && !frozen.has(each));
    return running[which % (running.length || 1)];
  };
  const freeze = async (process: ServiceProcess | undefined, forMs: number) => {
    if (!process) return;
    frozen.add(process);
    process.freeze();
    await delay(forMs);
    process.wake();
    frozen.delete(process);
  };
  const toStore = (harm: () => Promise<unknown>) => {
    store = store.then(harm).then(() => {});
    return store;
  };

  async function act({ fault, which, forMs }: Action): Promise<void> {
    const worker = chosen(processes.workers, which);
    const api = chosen(processes.apis, which);
    switch (fault) {
      case 'kill a worker':
        await worker?.kill();
        await processes.addWorker({ untilReady: false });
        return;
      case 'freeze a worker':
      case 'freeze a worker for long':
        return freeze(worker, forMs);
      case 'replace a worker':
        await processes.addWorker({ untilReady: false });
        if (worker && !frozen.has(worker) && worker.isRunning) await worker.terminate();
        return;
      case 'kill an API':
        await api?.kill();
        await processes.addApi({ untilReady: false });
        return;
      case 'freeze an API':
        return freeze(api, forMs);
      case 'lose all data':
        return toStore(() => redisCommand(redis.url, 'FLUSHALL'));
      case 'restart the store':
        return toStore(() => awayFor(redis, forMs, false));
      case 'restart the store without its data':
        return toStore(() => awayFor(redis, forMs, true));
      case 'freeze the store':
        return toStore(async () => {
          await redis.pause();
          await delay(forMs);
          await redis.resume();
        });
      case 'cut all connections':
        return toStore(() => redisCommand(redis.url, 'CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes'));
    }
  }

  async function mend(): Promise<void> {
    const running = (all: ServiceProcess[]) => all.filter(({ isRunning }) => isRunning);
    while (running(processes.workers).length < WORKERS) await processes.addWorker();
    while (running(processes.apis).length < apis) await processes.addApi();
    // A replaced worker is one too many when the old one had died already.
    for (const extra of running(processes.workers).slice(0, -WORKERS)) await extra.terminate();
    for (const extra of running(processes.apis).slice(0, -apis)) await extra.terminate();
    await eventually(async () => {
      for (const api of processes.apis.filter(({ isRunning }) => isRunning)) {
        if (!(await api.isReady())) throw new Error('an API is not ready again');
      }
    }, 60_000);
  }

  return {
    processes,
    secrets: [processes.sharedDir, new URL(redis.url).host],
    act,
    mend,
    api: (which) =>
      eventually(() => {
        const running = processes.apis.filter(({ isRunning }) => isRunning);
        const api = running[which % (running.length || 1)];
        if (!api) throw new Error('no API runs');
        return api;
      }, 60_000),
    async [Symbol.asyncDispose]() {
      await processes[Symbol.asyncDispose]();
      await redis.stop();
    },
  };
}

async function awayFor(redis: RedisProcess, ms: number, loseData: boolean): Promise<void> {
  await redis.kill();
  await delay(ms);
  await redis.start({ loseData });
}
