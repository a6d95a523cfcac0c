import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeEarlierVersion } from './earlier-version.ts';
import { echoes } from './echoes.ts';
import { makeNextVersion } from './next-version.ts';
import { startRedis } from './redis.ts';
import { claimRedisDatabase } from './redis-database.ts';
import type { RedisChoice } from './redis-server.ts';
import { createResponder, type Responder } from './responder.ts';
import {
  type ApiProcess,
  type Fault,
  type ServiceProcess,
  startApiProcess,
  startWorkerProcess,
} from './start-process.ts';

export type Version = 'earlier' | 'today' | 'next';
type Settings = Record<string, string | number>;

/** One deployment whose processes are of several versions, and a client of app 1 that echoes. */
export type Deployment = {
  queueUrl: string;
  sharedDir: string;
  responder: Responder;
  api(version?: Version): Promise<ApiProcess>;
  worker(version?: Version, fault?: Fault): Promise<ServiceProcess>;
};

export type Versions = {
  /** A deployment for one test; at its end no process has written anything but its log. */
  together(use: (deployment: Deployment) => Promise<void>, settings?: Settings): Promise<void>;
  stop(): Promise<void>;
};

/** Makes copies of this program as earlier and later versions, and a Redis for them. */
export async function startVersions(choice: RedisChoice): Promise<Versions> {
  const [redis, next, earlier] = await Promise.all([startRedis(choice), makeNextVersion(), makeEarlierVersion()]);
  const roots = { earlier: { root: earlier.root }, today: {}, next: { root: next.root } };

  async function together(use: (deployment: Deployment) => Promise<void>, settings: Settings = {}): Promise<void> {
    const database = await claimRedisDatabase(redis.url);
    const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    await mkdir(join(sharedDir, 'mock'));
    const started: ServiceProcess[] = [];
    const keep = <T extends ServiceProcess>(process: T): T => {
      started.push(process);
      return process;
    };
    const common = { queueUrl: database.url, settings };
    try {
      await using responder = await createResponder({
        sharedDir,
        app: 1,
        dryRun: true,
        does: echoes(),
        beatEveryMs: 1000,
      });
      await use({
        queueUrl: database.url,
        sharedDir,
        responder,
        api: async (version = 'today') => keep(await startApiProcess({ ...common, ...roots[version] })),
        worker: async (version = 'today', fault) =>
          keep(await startWorkerProcess({ ...common, sharedDir, ...roots[version], ...(fault && { fault }) })),
      });
      expect(started.flatMap(({ noise }) => noise)).toEqual([]);
    } finally {
      await Promise.all(started.map((process) => process.kill()));
      await rm(sharedDir, { recursive: true, force: true });
      await database.stop();
    }
  }

  return {
    together,
    async stop() {
      await redis.stop();
      await next[Symbol.asyncDispose]();
      await earlier[Symbol.asyncDispose]();
    },
  };
}
