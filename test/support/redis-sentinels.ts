import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { vi } from 'vitest';
import { atTestEnd } from './at-test-end.ts';
import { freePort } from './free-port.ts';
import { redisCommand } from './redis-command.ts';
import { killed, launchRedis, type RedisProcess, startRedisProcess } from './redis-process.ts';

const NAME = 'mymaster';
/** A master that does not answer for so long is taken for dead. */
const DOWN_AFTER_MS = 1000;
export const SENTINEL_PASSWORD = 'of-the-sentinels';

export type Sentinels = {
  /** As an operator writes it. */
  url: string;
  servers: RedisProcess[];
  /** The server that the Sentinels call master. */
  master(): Promise<RedisProcess>;
  /** Makes the Sentinels choose another master. */
  failOver(): Promise<void>;
  /** Resolves when another server than `old` is master, to the moment when it was first seen to be. */
  moved(old: RedisProcess): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
};

/** One master, two replicas and three Sentinels with a password, each a process of its own. */
export async function startSentinels({ more = [] }: { more?: string[] } = {}): Promise<Sentinels> {
  const options = { appendOnly: true, more: ['--repl-diskless-sync-delay', '0', '--repl-timeout', '10', ...more] };
  const servers = await Promise.all([1, 2, 3].map(() => startRedisProcess(options)));
  const [first, ...replicas] = servers;
  if (!first) throw new Error('no Redis was started');
  for (const { url } of replicas) await redisCommand(url, 'REPLICAOF', '127.0.0.1', portOf(first));
  await vi.waitFor(async () => {
    const [, , connected] = (await redisCommand(first.url, 'ROLE')) as [string, number, unknown[]];
    if (connected.length < 2) throw new Error('the replicas do not follow yet');
  }, 60_000);
  const directory = await mkdtemp(join(tmpdir(), 'rule-server-sentinels-'));
  const ports: number[] = [];
  const sentinels: ChildProcess[] = [];
  for (const number of [1, 2, 3]) {
    const port = await freePort();
    const path = join(directory, `${number}.conf`);
    await writeFile(path, configuration(port, portOf(first), directory));
    const sentinel = await launchRedis('redis-server', [path, '--sentinel'], '+monitor');
    atTestEnd(() => killed(sentinel));
    sentinels.push(sentinel);
    ports.push(port);
  }
  const ask = async (...parameters: string[]) => {
    const redis = new Redis({ port: ports[0] ?? 0, password: SENTINEL_PASSWORD, enableReadyCheck: false });
    return redis.call('SENTINEL', ...parameters).finally(() => redis.disconnect());
  };
  await vi.waitFor(async () => {
    await ask('CKQUORUM', NAME);
    const known = (await ask('REPLICAS', NAME)) as unknown[];
    const others = (await ask('SENTINELS', NAME)) as unknown[];
    if (known.length < 2 || others.length < 2) throw new Error('the Sentinels do not know all yet');
  }, 60_000);

  const master = async () => {
    const [, port] = (await ask('GET-MASTER-ADDR-BY-NAME', NAME)) as string[];
    const found = servers.find((server) => portOf(server) === port);
    if (!found) throw new Error(`no server has port ${port}`);
    return found;
  };
  return {
    url: `redis+sentinel://${ports.map((port) => `127.0.0.1:${port}`).join(',')}/${NAME}/0`,
    servers,
    master,
    failOver: async () => void (await ask('FAILOVER', NAME)),
    moved: (old) =>
      vi.waitFor(
        async () => {
          const now = await master();
          const [role] = now === old ? ['old'] : ((await redisCommand(now.url, 'ROLE')) as string[]);
          if (role !== 'master') throw new Error('there is no other master yet');
          return Date.now();
        },
        { timeout: 60_000, interval: 20 },
      ),
    async [Symbol.asyncDispose]() {
      await Promise.all(sentinels.map(killed));
      await Promise.all(servers.map((server) => server.stop()));
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export function portOf({ url }: { url: string }): string {
  return new URL(url).port;
}

function configuration(port: number, master: string, directory: string): string {
  return [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${directory}`,
    `requirepass ${SENTINEL_PASSWORD}`,
    `sentinel monitor ${NAME} 127.0.0.1 ${master} 2`,
    `sentinel down-after-milliseconds ${NAME} ${DOWN_AFTER_MS}`,
    `sentinel failover-timeout ${NAME} 6000`,
    `sentinel parallel-syncs ${NAME} 2`,
    '',
  ].join('\n');
}
