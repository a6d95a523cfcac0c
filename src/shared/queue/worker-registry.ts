import type { Redis } from 'ioredis';
import { z } from 'zod';
import { processName } from '../ports/process.ts';
import { type Fault, isWhy, whys } from '../reasons/causes.ts';
import { redisScript } from '../store/redis/redis-script.ts';

/**
 * How much a worker has to do. `busy`: executions it has that wait neither for their client nor for a slot there. `begun`: how many it has
 * sent to a client or refused since it started.
 */
export type WorkerLoad = { busy: number; begun: number };

/** What is the matter with the shared directory, as a worker (host and process) sees it. */
export type WorkerProblem = { worker: string; fault: Fault };

/** The workers of a queue. Each announces every second whether it takes jobs; an announcement expires after `COUNTS_FOR_MS`. */
export type WorkerRegistry = {
  /** The worker takes jobs. `fault`: what keeps them from being answered all the same. */
  announce(workerId: string, fault?: Fault | null): Promise<void>;
  reportLoad(workerId: string, load: WorkerLoad): Promise<void>;
  /** The worker takes no jobs. `fault`: why. */
  withdraw(workerId: string, fault?: Fault | null): Promise<void>;
  /** The problems reported lately, also by workers that take no jobs. */
  problems(): Promise<WorkerProblem[]>;
  /** The ids of the workers that take jobs now. */
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
const announce = redisScript(`${NOW}
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[2])
return 1
`);
/** A fault; one that only a newer version knows counts as internal. */
const faultSchema: z.ZodType<Fault> = z
  .object({ problem: z.enum(Object.keys(whys).filter(isWhy)).catch('internal') })
  .catchall(z.union([z.string(), z.number()]));
const problemSchema = z.object({ worker: z.string(), fault: faultSchema });
const problemsSchema = z.array(z.string().transform((text): WorkerProblem => problemSchema.parse(JSON.parse(text))));
const list = redisScript(`${NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')
`);
const reportLoad = redisScript(`
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);
const loads = redisScript(`${NOW}
local found = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now - ARGV[1], '+inf')) do
  local load = redis.call('HGET', KEYS[2], id)
  if load then
    found[#found + 1] = { id, load }
  end
end
return found
`);
const idsSchema = z.array(z.string());
const loadSchema = z.object({ busy: z.int(), begun: z.int() });
const loadsSchema = z.array(z.tuple([z.string(), z.string().transform((text) => loadSchema.parse(JSON.parse(text)))]));

export function createRedisWorkerRegistry(redis: Redis, prefix: string): WorkerRegistry {
  const key = `${prefix}:workers`;
  const loadsKey = `${prefix}:loads`;
  const problemsKey = `${prefix}:worker-problems`;
  const reportProblem = (fault: Fault) =>
    announce(redis, [problemsKey], [JSON.stringify({ worker: processName(), fault }), COUNTS_FOR_MS]);
  return {
    async announce(workerId, fault = null) {
      await Promise.all([announce(redis, [key], [workerId, COUNTS_FOR_MS]), fault !== null && reportProblem(fault)]);
    },
    reportLoad: async (workerId, load) =>
      void (await reportLoad(redis, [loadsKey], [workerId, JSON.stringify(load), COUNTS_FOR_MS])),
    async withdraw(workerId, fault = null) {
      await Promise.all([
        redis.zrem(key, workerId),
        redis.hdel(loadsKey, workerId),
        fault !== null && reportProblem(fault),
      ]);
    },
    problems: async () => problemsSchema.parse(await list(redis, [problemsKey], [COUNTS_FOR_MS])),
    list: async () => idsSchema.parse(await list(redis, [key], [COUNTS_FOR_MS])),
    loads: async () => new Map(loadsSchema.parse(await loads(redis, [key, loadsKey], [COUNTS_FOR_MS]))),
  };
}

/** The same for the workers of this process. */
export function createMemoryWorkerRegistry(): WorkerRegistry {
  const ids = new Set<string>();
  const loads = new Map<string, WorkerLoad>();
  const problems = new Map<string, Fault>();
  const reportProblem = (workerId: string, fault: Fault | null) =>
    fault === null ? problems.delete(workerId) : problems.set(workerId, fault);
  return {
    async announce(workerId, fault = null) {
      ids.add(workerId);
      reportProblem(workerId, fault);
    },
    reportLoad: async (workerId, load) => void loads.set(workerId, load),
    async withdraw(workerId, fault = null) {
      ids.delete(workerId);
      loads.delete(workerId);
      reportProblem(workerId, fault);
    },
    problems: async () => [...problems.values()].map((fault) => ({ worker: processName(), fault })),
    list: async () => [...ids],
    loads: async () => new Map([...loads].filter(([id]) => ids.has(id))),
  };
}
