import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** Every key of a Redis database whose name or value has a text in it. */
export async function markerInRedis(url: string, marker: string): Promise<string[]> {
  const redis = new Redis(url);
  const reads: Record<string, (key: string) => Promise<unknown>> = {
    string: (key) => redis.get(key),
    hash: (key) => redis.hgetall(key),
    list: (key) => redis.lrange(key, 0, -1),
    set: (key) => redis.smembers(key),
    zset: (key) => redis.zrange(key, '0', '-1'),
    stream: (key) => redis.xrange(key, '-', '+'),
  };
  try {
    const found: string[] = [];
    for (const key of await redis.keys('*')) {
      const type = await redis.type(key);
      const read = reads[type];
      if (!read && type !== 'none') throw new Error(`${key} is of a type that is not looked at: ${type}`);
      const value = JSON.stringify((await read?.(key)) ?? null);
      if (key.includes(marker) || value.includes(marker)) found.push(key);
    }
    return found;
  } finally {
    redis.disconnect();
  }
}

/** Every file below a directory whose name or content has a text in it. */
export async function markerInFiles(directory: string, marker: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const found = await Promise.all(
    files.map(async (file) => file.includes(marker) || (await readFile(file, 'utf8').catch(() => '')).includes(marker)),
  );
  return files.filter((_, index) => found[index]);
}
