import { startRedisContainer } from './redis-container.ts';
import { claimRedisDatabase } from './redis-database.ts';
import { startRedisProcess } from './redis-process.ts';
import type { RedisChoice, RedisOptions, RedisServer } from './redis-server.ts';

/**
 * A Redis of the suite's own, empty, of the kind this run has chosen: `startRedis(inject('redis'))`. Throws the reason
 * when there is none; suites ask `inject('redis').kind` first and are left out.
 */
export async function startRedis(choice: RedisChoice, options: RedisOptions = {}): Promise<RedisServer> {
  switch (choice.kind) {
    case 'container':
      return startRedisContainer(choice.image, options);
    case 'binary':
      return startRedisProcess({ ...options, command: choice.command });
    case 'url':
      return claimRedisDatabase(choice.url);
    case 'unavailable':
      throw new Error(`no Redis for this run: ${choice.reason}`);
  }
}
