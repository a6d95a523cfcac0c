import type { Redis } from 'ioredis';

/** The identity of the shared directory that the workers of a queue use. It never expires. */
export type RegisteredDirectory = {
  /** Null before the first worker. */
  get(): Promise<string | null>;
  /** Registers a directory unless there is one, and resolves to the one that is registered then. */
  register(id: string): Promise<string>;
  forget(): Promise<void>;
  /** How an operator lets the workers use another directory. */
  toReplace: 'forget-directory' | 'start-again';
};

export function createRedisDirectory(redis: Redis, prefix: string): RegisteredDirectory {
  const key = `${prefix}:shared-directory`;
  return {
    get: () => redis.get(key),
    register: async (id) => (await redis.set(key, id, 'NX', 'GET')) ?? id,
    forget: async () => void (await redis.del(key)),
    toReplace: 'forget-directory',
  };
}

/** In one process the store is inside the shared directory, so the two always belong together. */
export function createMemoryDirectory(): RegisteredDirectory {
  let registered: string | null = null;
  return {
    get: async () => registered,
    register: async (id) => (registered ??= id),
    forget: async () => {
      registered = null;
    },
    toReplace: 'start-again',
  };
}
