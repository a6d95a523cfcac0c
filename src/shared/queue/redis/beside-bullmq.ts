import type { Queue } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../../contract/json/parse-json.ts';
import { time } from '../../ports/time.ts';
import { batchesPartOf, type HistoryLimits } from '../../store/history/history.ts';
import { historyPrefix } from '../../store/history/redis-history.ts';
import { redisScript } from '../../store/redis/redis-script.ts';
import { HISTORIES } from '../../store/redis/redis-stores.ts';
import type { Found, ShortJob } from '../queue.ts';

/**
 * What BullMQ has no public form for: reading jobs without their data, removing one only if no worker ever took it, erasing events, and finding
 * ended jobs that are in no history. All of it depends on BullMQ's keys and fields, and nothing else in this project does.
 */
export type BesideBullmq = {
  lookUp(id: string): Promise<Found>;
  readShort(ids: readonly string[]): Promise<(ShortJob | null)[]>;
  removeWaiting(id: string): Promise<boolean>;
  eraseEvents(id: string): Promise<void>;
  trimEvents(olderThanMs: number): Promise<void>;
  missingRecords(limits: HistoryLimits): Promise<string[]>;
};

type Options = { prefix: string; maxEvents: number };

export function besideBullmq(redis: Redis, queue: Pick<Queue, 'toKey'>, { prefix, maxEvents }: Options): BesideBullmq {
  const [wait, events, completed] = [queue.toKey('wait'), queue.toKey('events'), queue.toKey('completed')];
  return {
    async lookUp(id) {
      const [addedAt, endedAt, value] = await redis.hmget(queue.toKey(id), 'timestamp', 'finishedOn', 'returnvalue');
      if (addedAt == null) return { kind: 'missing' };
      return endedAt == null ? { kind: 'open' } : { kind: 'ended', value: parseJson(value ?? 'null') };
    },
    async readShort(ids) {
      const reads = redis.pipeline();
      for (const id of ids) reads.hmget(queue.toKey(id), ...FIELDS);
      const replies = (await reads.exec()) ?? [];
      return replies.map(([error, reply]) => {
        if (error) throw error;
        return shortJob(z.array(z.string().nullable()).parse(reply));
      });
    },
    removeWaiting: async (id) => (await removeWaiting(redis, [wait, queue.toKey(id), events], [id, maxEvents])) === 1,
    async eraseEvents(id) {
      for (let from = '-'; from !== ''; )
        from = z.string().parse(await eraseEvents(redis, [events], [id, from, EVENTS_AT_ONCE]));
    },
    trimEvents: async (olderThanMs) => void (await redis.xtrim(events, 'MINID', Date.now() - olderThanMs)),
    missingRecords: (limits) => missingRecords(redis, { completed, prefix, limits }),
  };
}

// Reading jobs without their data.

const FIELDS = ['opts', 'timestamp', 'progress', 'finishedOn', 'ats', 'processedOn', 'returnvalue'] as const;
const optionsSchema = z.object({ head: z.string() });

function shortJob([options, addedAt, progress, endedAt, taken, takenAt, value]: (string | null)[]): ShortJob | null {
  if (!options || !addedAt) return null;
  const found = optionsSchema.safeParse(parseJson(options));
  return {
    head: found.success ? parseJson(found.data.head) : null,
    addedAt: Number(addedAt),
    begun: Number(taken) > 0 || Boolean(takenAt),
    progress: parseJson(progress ?? ''),
    endedAt: endedAt ? Number(endedAt) : null,
    value: parseJson(value ?? 'null'),
  };
}

// Removing one that no worker ever took. BullMQ's own removal takes any job that is not locked: also one that has run, or whose worker fell asleep.

const removeWaiting = redisScript(`
local wait, job, events, id = KEYS[1], KEYS[2], KEYS[3], ARGV[1]
if tonumber(redis.call('HGET', job, 'ats') or '0') > 0 then return 0 end
if redis.call('LREM', wait, 1, id) == 0 then return 0 end
redis.call('DEL', job)
redis.call('XADD', events, 'MAXLEN', '~', ARGV[2], '*', 'event', 'removed', 'jobId', id, 'prev', 'wait')
return 1
`);

// Erasing events: they carry answers.

const EVENTS_AT_ONCE = 500;

/** Removes the events of one job from a part of the stream, and says where the next part begins. */
const eraseEvents = redisScript(`
local events, id, from, count = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local entries = redis.call('XRANGE', events, from, '+', 'COUNT', count)
for _, entry in ipairs(entries) do
  local fields = entry[2]
  for at = 1, #fields, 2 do
    if fields[at] == 'jobId' and fields[at + 1] == id then redis.call('XDEL', events, entry[1]) end
  end
end
if #entries < count then return '' end
return '(' .. entries[#entries][1]
`);

// Finding ended jobs that are in no history.

/** Younger ones may be on their way into the history; older ones were looked at before. */
const [YOUNGEST_MS, OLDEST_MS] = [10_000, 90_000];
const JOBS_AT_ONCE = 200;
const MOST = 20_000;
/** Of several processes, one looks each time. */
const TURN_SECONDS = 25;

/**
 * Jobs that ended between two times and are in neither history. A history that is more than half full may have let an execution go that ended
 * before the oldest one it still has: that one is not missing.
 */
const missing = redisScript(`
local finished, from, to, start, count = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local function horizon(prefix, maxCount, maxBytes)
  local oldest = redis.call('ZRANGE', prefix .. 'index', 0, 0, 'WITHSCORES')[2]
  if not oldest then return 0 end
  local isRoomy = redis.call('ZCARD', prefix .. 'index') * 2 < tonumber(maxCount)
    and tonumber(redis.call('GET', prefix .. 'bytes') or '0') * 2 < tonumber(maxBytes)
  if isRoomy then return 0 end
  return tonumber(oldest)
end
local since = math.max(horizon(ARGV[5], ARGV[6], ARGV[7]), horizon(ARGV[8], ARGV[9], ARGV[10]))
local jobs = redis.call('ZRANGEBYSCORE', finished, from, to, 'WITHSCORES', 'LIMIT', start, count)
local found = {}
for i = 1, #jobs, 2 do
  local id = jobs[i]
  if tonumber(jobs[i + 1]) >= since
    and redis.call('EXISTS', ARGV[5] .. 'record:' .. id, ARGV[8] .. 'record:' .. id) == 0 then
    found[#found + 1] = id
  end
end
return {#jobs / 2, found}
`);
const answerSchema = z.tuple([z.number(), z.array(z.string())]);

type Asked = { completed: string; prefix: string; limits: HistoryLimits };

async function missingRecords(redis: Redis, { completed, prefix, limits }: Asked): Promise<string[]> {
  if ((await redis.set(`${prefix}:history:repair`, '', 'EX', TURN_SECONDS, 'NX')) === null) return [];
  const now = time.now();
  const window = [now - Math.min(OLDEST_MS, limits.seconds * 1000), now - YOUNGEST_MS];
  const of = (part: keyof typeof HISTORIES, { count, bytes }: HistoryLimits) => [
    historyPrefix(prefix, HISTORIES[part]),
    count,
    bytes,
  ];
  const histories = [...of('calls', limits), ...of('batches', batchesPartOf(limits))];
  const all: string[] = [];
  for (let start = 0; start < MOST; start += JOBS_AT_ONCE) {
    const answer = await missing(redis, [completed], [...window, start, JOBS_AT_ONCE, ...histories]);
    const [looked, found] = answerSchema.parse(answer);
    all.push(...found);
    if (looked < JOBS_AT_ONCE) break;
  }
  return all;
}
