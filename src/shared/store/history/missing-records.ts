import type { Redis } from 'ioredis';
import { z } from 'zod';
import { time } from '../../seams/time.ts';
import { redisScript } from '../redis/redis-script.ts';
import type { HistoryLimits } from './history.ts';

/** Younger ones may be on their way into the history; older ones were looked at before. */
const [YOUNGEST_MS, OLDEST_MS] = [10_000, 90_000];
const AT_ONCE = 200;
const MOST = 20_000;
const TURN_SECONDS = 25;

type Part = { prefix: string; limits: HistoryLimits };
/** `turn`: the key by which, of several processes, one looks each time. */
type Parts = { turn: string; calls: Part; batches: Part };

/**
 * Jobs of a list of finished ones that are in neither history. A history that is more than half full may have let an
 * execution go that ended before the oldest one it still has: that one is not missing.
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

/** Finds executions that ended lately and are in no history, because their worker died before it wrote them there. */
export function createMissingRecords(redis: Redis, toKey: (state: 'completed' | 'failed') => string, parts: Parts) {
  const ofPart = ({ prefix, limits }: Part) => [prefix, limits.count, limits.bytes];
  const histories = [...ofPart(parts.calls), ...ofPart(parts.batches)];

  async function among(state: 'completed' | 'failed', from: number, to: number): Promise<string[]> {
    const all: string[] = [];
    for (let start = 0; start < MOST; start += AT_ONCE) {
      const answer = await missing(redis, [toKey(state)], [from, to, start, AT_ONCE, ...histories]);
      const [looked, found] = answerSchema.parse(answer);
      all.push(...found);
      if (looked < AT_ONCE) break;
    }
    return all;
  }

  return async function missingRecords(): Promise<string[]> {
    if ((await redis.set(parts.turn, '', 'EX', TURN_SECONDS, 'NX')) === null) return [];
    const now = time.now();
    const window = [now - Math.min(OLDEST_MS, parts.calls.limits.seconds * 1000), now - YOUNGEST_MS] as const;
    return [...(await among('completed', ...window)), ...(await among('failed', ...window))];
  };
}
