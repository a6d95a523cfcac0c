import { connect, createServer, type Socket } from 'node:net';

/** Where a connection breaks: before what was sent reaches Redis, after it and before its reply, or after the reply. */
export const breaks = ['before the command', 'before the reply', 'after the reply'] as const;
export type Break = (typeof breaks)[number];

export type RedisProxy = {
  url: string;
  /** Cuts all connections the next time `text` is sent to Redis, and takes no new ones for `forMs`. */
  cutAt(text: string, where: Break, forMs: number): void;
  /** Whether that is still to come. */
  readonly isArmed: boolean;
  /** Where connections that are made from now on lead to; those that are open stay where they are. */
  pointTo(url: string): void;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Stands between processes and their Redis, and breaks their connections at a command of the test's choice. */
export async function startRedisProxy(url: string): Promise<RedisProxy> {
  const { pathname } = new URL(url);
  let leadsTo = new URL(url);
  const open = new Set<Socket>();
  let armed: { text: string; where: Break; forMs: number } | undefined;
  let refusesUntil = 0;

  const cutAll = (forMs: number) => {
    armed = undefined;
    refusesUntil = Date.now() + forMs;
    for (const socket of open) socket.destroy();
  };

  const server = createServer((client) => {
    if (Date.now() < refusesUntil) return void client.destroy();
    const redis = connect(Number(leadsTo.port), leadsTo.hostname);
    let awaited: { where: Break; forMs: number } | undefined;
    for (const [socket, other] of [
      [client, redis],
      [redis, client],
    ] as const) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        open.delete(socket);
        other.destroy();
      });
    }
    client.on('data', (data) => {
      if (armed && data.includes(armed.text)) {
        const { where, forMs } = armed;
        if (where === 'before the command') return cutAll(forMs);
        armed = undefined;
        awaited = { where, forMs };
      }
      redis.write(data);
    });
    redis.on('data', (data) => {
      if (!awaited) return void client.write(data);
      const { where, forMs } = awaited;
      awaited = undefined;
      if (where === 'before the reply') cutAll(forMs);
      else client.write(data, () => setTimeout(() => cutAll(forMs), 1));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const own = typeof address === 'object' && address ? address.port : 0;

  return {
    url: `redis://127.0.0.1:${own}${pathname}`,
    cutAt(text, where, forMs) {
      armed = { text, where, forMs };
    },
    pointTo(other) {
      leadsTo = new URL(other);
    },
    get isArmed() {
      return armed !== undefined;
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
