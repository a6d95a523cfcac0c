import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../contract/json/parse-json.ts';
import { type Fault, isWhy, whys } from '../reasons/causes.ts';
import { redisScript } from '../store/redis/redis-script.ts';

/** A fault; one that only a newer version knows counts as internal. */
const faultSchema: z.ZodType<Fault> = z
  .object({ problem: z.enum(Object.keys(whys).filter(isWhy)).catch('internal') })
  .catchall(z.union([z.string(), z.number()]));
const reportSchema = z.object({
  /** Its host and process. */
  name: z.string(),
  takesJobs: z.boolean(),
  /** What is the matter with the shared directory, as the worker sees it. */
  fault: faultSchema.nullable(),
  /** Executions it has that wait neither for their client nor for a slot there. */
  busy: z.int(),
  /** How many it has sent to a client or refused since it started. */
  begun: z.int(),
});
/** What a worker tells of itself. */
export type WorkerReport = z.infer<typeof reportSchema>;
export type WorkerReports = ReadonlyMap<string, WorkerReport>;

/** The workers of a queue. Each reports again and again, and counts for `COUNTS_FOR_MS` after its last report. */
export type WorkerRegistry = {
  report(workerId: string, report: WorkerReport): Promise<void>;
  /** The worker stops. */
  withdraw(workerId: string): Promise<void>;
  /** The last report of each worker, by its id. */
  read(): Promise<WorkerReports>;
};

/** As long as the locks of a worker that died or froze. */
const COUNTS_FOR_MS = 5000;

/** By the clock of Redis: those of the workers may differ. */
const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;
const report = redisScript(`${NOW}
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1
`);
const read = redisScript(`${NOW}
local found, all = {}, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local at, text = string.match(all[i + 1], '^(%d+) (.*)$')
  if now - tonumber(at) < tonumber(ARGV[1]) then found[#found + 1] = { all[i], text }
  else redis.call('HDEL', KEYS[1], all[i]) end
end
return found
`);
const readSchema = z.array(z.tuple([z.string(), z.string().transform(parseJson).pipe(reportSchema)]));

export function createRedisWorkerRegistry(redis: Redis, prefix: string): WorkerRegistry {
  const key = `${prefix}:worker-reports`;
  return {
    report: async (id, own) => void (await report(redis, [key], [id, JSON.stringify(own), COUNTS_FOR_MS])),
    withdraw: async (id) => void (await redis.hdel(key, id)),
    read: async () => new Map(readSchema.parse(await read(redis, [key], [COUNTS_FOR_MS]))),
  };
}

/** The same for the workers of this process, which end with it. */
export function createMemoryWorkerRegistry(): WorkerRegistry {
  const reports = new Map<string, WorkerReport>();
  return {
    report: async (id, own) => void reports.set(id, own),
    withdraw: async (id) => void reports.delete(id),
    read: async () => new Map(reports),
  };
}
