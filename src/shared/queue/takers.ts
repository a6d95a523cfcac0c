import type { Redis } from 'ioredis';
import { z } from 'zod';
import { processName } from '../ports/process.ts';
import { redisScript } from '../store/redis/redis-script.ts';

/**
 * How much a worker has to do. `busy`: executions it has that wait neither for their client nor for a slot there. `begun`: how many it has
 * sent to a client or refused since it started.
 */
export type WorkerLoad = { busy: number; begun: number };

/** What is the matter with the shared directory, as a worker (host and process) sees it. */
export type WorkerProblem = { worker: string; problem: string };

/** The workers of a queue. Each tells every second whether it takes jobs, and a worker that has not told for a while does not count. */
export type Takers = {
  /** It takes jobs. `problem`: what keeps them from being answered all the same. */
  tell(workerId: string, problem?: string | null): Promise<void>;
  tellLoad(workerId: string, load: WorkerLoad): Promise<void>;
  /** It takes none. `problem`: why. */
  withdraw(workerId: string, problem?: string | null): Promise<void>;
  /** What workers told lately, also those that take no jobs. */
  problems(): Promise<WorkerProblem[]>;
  /** The ids of those that take jobs now. */
  list(): Promise<string[]>;
  /** The last reported load of each worker, by its id. */
  loads(): Promise<Map<string, WorkerLoad>>;
};

/** As long as the locks of a worker that died or froze. */
const COUNTS_FOR_MS = 5000;

/** By the clock of Redis: those of the workers may differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
const tell = redisScript(`${NOW}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);
const problemsSchema = z.array(
  z.string().transform((text): WorkerProblem => {
    const [worker = '', ...problem] = text.split(' ');
    return { worker, problem: problem.join(' ') };
  }),
);
const list = redisScript(`${NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')
`);
const tellLoad = redisScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);
const loads = redisScript(`${NOW}
local told = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')) do
  local load = redis.call('HGET', KEYS[2], id)
  if load then
    told[#told + 1] = { id, load }
  end
end
return told
`);
const idsSchema = z.array(z.string());
const loadSchema = z.object({ busy: z.int(), begun: z.int() });
const loadsSchema = z.array(z.tuple([z.string(), z.string().transform((text) => loadSchema.parse(JSON.parse(text)))]));

export function createRedisTakers(redis: Redis, prefix: string): Takers {
  const key = `${prefix}:workers`;
  const loadsKey = `${prefix}:loads`;
  const problemsKey = `${prefix}:worker-problems`;
  const tellProblem = (problem: string) => tell(redis, [problemsKey], [`${processName()} ${problem}`, COUNTS_FOR_MS]);
  return {
    async tell(workerId, problem = null) {
      await Promise.all([tell(redis, [key], [workerId, COUNTS_FOR_MS]), problem !== null && tellProblem(problem)]);
    },
    tellLoad: async (workerId, load) =>
      void (await tellLoad(redis, [loadsKey], [workerId, JSON.stringify(load), COUNTS_FOR_MS])),
    async withdraw(workerId, problem = null) {
      await Promise.all([
        redis.zrem(key, workerId),
        redis.hdel(loadsKey, workerId),
        problem !== null && tellProblem(problem),
      ]);
    },
    problems: async () => problemsSchema.parse(await list(redis, [problemsKey], [COUNTS_FOR_MS])),
    list: async () => idsSchema.parse(await list(redis, [key], [COUNTS_FOR_MS])),
    loads: async () => new Map(loadsSchema.parse(await loads(redis, [key, loadsKey], [COUNTS_FOR_MS]))),
  };
}

/** The same for the workers of this process. */
export function createMemoryTakers(): Takers {
  const ids = new Set<string>();
  const told = new Map<string, WorkerLoad>();
  const problems = new Map<string, string>();
  const tellProblem = (workerId: string, problem: string | null) =>
    problem === null ? problems.delete(workerId) : problems.set(workerId, problem);
  return {
    async tell(workerId, problem = null) {
      ids.add(workerId);
      tellProblem(workerId, problem);
    },
    tellLoad: async (workerId, load) => void told.set(workerId, load),
    async withdraw(workerId, problem = null) {
      ids.delete(workerId);
      told.delete(workerId);
      tellProblem(workerId, problem);
    },
    problems: async () => [...problems.values()].map((problem) => ({ worker: processName(), problem })),
    list: async () => [...ids],
    loads: async () => new Map([...told].filter(([id]) => ids.has(id))),
  };
}
