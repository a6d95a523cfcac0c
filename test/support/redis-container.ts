import { withDeadline } from './deadline.ts';
import { freePort } from './free-port.ts';
import { redisCommand } from './redis-command.ts';
import { type RedisOptions, type RedisServer, redisArguments } from './redis-server.ts';

const START_TIMEOUT_MS = 60_000;

/** A Redis in a container, at a port of this machine that stays the same over restarts. Pulls the image when missing. */
export async function startRedisContainer(image: string, options: RedisOptions = {}): Promise<RedisServer> {
  const { GenericContainer, Wait, getContainerRuntimeClient } = await import('testcontainers');
  // Docker gives a restarted container a new port unless it was asked for a certain one.
  const port = await freePort();
  const start = new GenericContainer(image)
    .withCommand(redisArguments(options))
    .withExposedPorts({ container: 6379, host: port })
    // The log line, not the port: the port check runs a shell inside, and a minimal image has none.
    .withWaitStrategy(Wait.forLogMessage('Ready to accept connections'))
    .withStartupTimeout(START_TIMEOUT_MS)
    .start();
  const container = await withDeadline(start, START_TIMEOUT_MS, `starting a container of ${image}`);
  const { container: runtime } = await getContainerRuntimeClient();
  const handle = runtime.getById(container.getId());
  const url = `redis://${container.getHost()}:${port}`;
  let stopped: Promise<unknown> | undefined;
  return {
    kind: 'container',
    url,
    // Not as testcontainers does it: it waits for the log line among those since the start, and Redis may write it a moment earlier.
    async restart() {
      await handle.restart({ t: 0 });
      await withDeadline(redisCommand(url, 'PING'), START_TIMEOUT_MS, 'a container that was started again');
    },
    pause: async () => void (await handle.pause()),
    resume: async () => void (await handle.unpause()),
    stop: async () => {
      stopped ??= container.stop({ timeout: 0 });
      await stopped;
    },
  };
}
