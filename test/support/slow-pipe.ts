import { connect, createServer, type Socket } from 'node:net';

type Latency = {
  /** How long a byte and its reply are under way together, on average. */
  roundTripMs: number;
  /** How much longer or shorter each way may take. */
  jitterMs: number;
};

/** Stands between processes and their Redis, and hands on what either side sends, in order, but later. */
export async function startSlowPipe(url: string, { roundTripMs, jitterMs }: Latency) {
  const target = new URL(url);
  const open = new Set<Socket>();

  function handOn(from: Socket, to: Socket): void {
    let lastDueAt = 0;
    open.add(from);
    from.setNoDelay(true);
    from.on('error', () => {});
    from.on('close', () => {
      open.delete(from);
      to.destroy();
    });
    // Timers that are due in the same millisecond may fire in any order: each one hands on what is first.
    const held: (string | Uint8Array)[] = [];
    from.on('data', (data) => {
      const now = performance.now();
      const dueAt = Math.max(lastDueAt, now + roundTripMs / 2 + (Math.random() * 2 - 1) * jitterMs);
      lastDueAt = dueAt;
      held.push(data);
      setTimeout(() => {
        const first = held.shift();
        if (first && to.writable) to.write(first);
      }, dueAt - now);
    });
  }

  const server = createServer((client) => {
    const redis = connect(Number(target.port), target.hostname);
    handOn(client, redis);
    handOn(redis, client);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address ? address.port : 0;

  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose](): Promise<void> {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
