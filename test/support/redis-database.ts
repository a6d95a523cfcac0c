import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import type { RedisServer } from './redis-server.ts';

const LOCK = 'rule-server-test:lock';
const OURS = 'rule-server-test:ours';
const LOCK_SECONDS = 1800;

/** Takes the database when it is empty, or was ours and its owner has died; anything else in it is somebody's data. */
const TAKE = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if redis.call('EXISTS', KEYS[2]) == 0 and redis.call('DBSIZE') > 0 then return 0 end
redis.call('FLUSHDB')
redis.call('SET', KEYS[2], '1')
redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
return 1`;

/** An empty numbered database of a Redis that others use, too; the database named in `url` itself is never used. */
export async function claimRedisDatabase(url: string, databases = 16, first = 1): Promise<RedisServer> {
  for (let database = 1; database < databases; database += 1) {
    const claimed = await take(databaseUrl(url, 1 + ((database + first - 2) % (databases - 1))));
    if (claimed) return claimed;
  }
  throw new Error(`databases 1 to ${databases - 1} of ${new URL(url).host} are all in use`);
}

async function take(url: string): Promise<RedisServer | undefined> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    if ((await redis.eval(TAKE, 2, LOCK, OURS, randomUUID(), LOCK_SECONDS)) !== 1) return undefined;
    return { kind: 'url', url, stop: () => release(url) };
  } finally {
    redis.disconnect();
  }
}

async function release(url: string): Promise<void> {
  const redis = new Redis(url, { maxRetriesPerRequest: 1 });
  try {
    await redis.flushdb();
  } finally {
    redis.disconnect();
  }
}

function databaseUrl(url: string, database: number): string {
  const numbered = new URL(url);
  numbered.pathname = `/${database}`;
  return numbered.href;
}
