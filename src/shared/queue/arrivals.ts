import type { Redis } from 'ioredis';
import { z } from 'zod';
import { random } from '../seams/random.ts';
import { redisScript } from '../store/redis/redis-script.ts';

/** Calls by the name of their key; null where none is needed. */
export type Calls = ReadonlyMap<string | null, number>;

/** Tells the other APIs how many calls came here lately, and resolves to how many came to all the others. */
export type TellArrivals = (here: Calls) => Promise<Calls>;

/** What an API told is forgotten after this time: it has no calls any more, or is gone. */
const COUNTS_FOR_MS = 1000;

/** By the clock of Redis: those of the APIs may differ. */
const tell = redisScript(`
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('HSET', KEYS[1], ARGV[1], now .. ' ' .. ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
local others = {}
local all = redis.call('HGETALL', KEYS[1])
for at = 1, #all, 2 do
  local told, calls = string.match(all[at + 1], '^(%d+) (.*)$')
  if now - tonumber(told) > tonumber(ARGV[3]) then
    redis.call('HDEL', KEYS[1], all[at])
  elseif all[at] ~= ARGV[1] then
    others[#others + 1] = calls
  end
end
return others
`);
const callsSchema = z.array(z.tuple([z.string().nullable(), z.int()]));
const toldSchema = z.array(z.string().transform((text) => callsSchema.parse(JSON.parse(text))));

export function createRedisArrivals(redis: Redis, prefix: string): TellArrivals {
  const id = random.uuid();
  return async (here) => {
    const told = await tell(redis, [`${prefix}:arrivals`], [id, JSON.stringify([...here]), COUNTS_FOR_MS]);
    return addUp(toldSchema.parse(told).flat());
  };
}

/** A process that has a queue store of its own is the only API. */
export const noArrivalsElsewhere: TellArrivals = async () => new Map();

export function addUp(all: Iterable<readonly [string | null, number]>): Calls {
  const calls = new Map<string | null, number>();
  for (const [keyName, count] of all) calls.set(keyName, (calls.get(keyName) ?? 0) + count);
  return calls;
}
