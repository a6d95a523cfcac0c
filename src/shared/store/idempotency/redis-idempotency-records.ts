import type { Redis } from 'ioredis';
import { z } from 'zod';
import { storedKey } from '../key-value-store.ts';
import { redisScript } from '../redis/redis-script.ts';
import {
  ANSWER_BYTES,
  type IdempotencyRecords,
  isRecordOf,
  KEY_SECONDS,
  type PutRecord,
  RECORD_BYTES,
} from './idempotency-records.ts';

/** Sorted sets: all records by insertion, open ones by due time, answers by insertion. */
const INDEXES = ['all', 'due', 'answers', 'sizes', 'bytes'];
const AT_ONCE = 100;
const READ_AT_ONCE = 500;

const COMMON = `
local all, due, answers, sizes, bytes = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local now, prefix, recordBytes, maxBytes, seconds = tonumber(ARGV[1]), ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function drop(key)
  redis.call('DEL', prefix .. key)
  redis.call('ZREM', answers, key)
  local size = tonumber(redis.call('HGET', sizes, key) or '0')
  if size > 0 then redis.call('HDEL', sizes, key) redis.call('DECRBY', bytes, size) end
end
local function purge()
  for _, key in ipairs(redis.call('ZRANGEBYSCORE', all, '-inf', now - seconds * 1000, 'LIMIT', 0, ${AT_ONCE})) do
    redis.call('ZREM', all, key)
    redis.call('ZREM', due, key)
    drop(key)
  end
end
local function fits(wanted)
  return redis.call('ZCARD', all) * recordBytes + tonumber(redis.call('GET', bytes) or '0') + wanted <= maxBytes
end
local function makeRoom(wanted)
  if redis.call('ZCARD', all) * recordBytes + wanted > maxBytes then return false end
  for _ = 1, ${AT_ONCE} do
    if fits(wanted) then return true end
    local oldest = redis.call('ZRANGE', answers, 0, 0)
    if #oldest == 0 then return false end
    drop(oldest[1])
  end
  return fits(wanted)
end
`;

/** Record and index entry are written in one script, so that the record of an API that dies right after it is found when it is due. */
const put = redisScript(`${COMMON}
local record, key, text, dueAt = KEYS[6], ARGV[6], ARGV[7], ARGV[8]
purge()
local there = redis.call('GET', record)
if there then return {'there', there} end
if not makeRoom(recordBytes) then return {'full'} end
redis.call('SET', record, text, 'EX', seconds)
redis.call('ZADD', all, now, key)
redis.call('ZADD', due, dueAt, key)
return {'put'}
`);

const changeRecord = redisScript(`${COMMON}
local record, key, from, to, dueAt, answer = KEYS[6], ARGV[6], ARGV[7], ARGV[8], ARGV[9], ARGV[10]
if redis.call('GET', record) ~= from then return 0 end
if to == '' then
  redis.call('DEL', record)
  redis.call('ZREM', all, key)
  redis.call('ZREM', due, key)
  drop(key)
  return 1
end
redis.call('SET', record, to, 'KEEPTTL')
if dueAt == '' then redis.call('ZREM', due, key) else redis.call('ZADD', due, dueAt, key) end
if answer ~= '' then
  drop(key)
  local size = #answer + ${ANSWER_BYTES}
  if makeRoom(size) then
    redis.call('SET', prefix .. key, answer, 'PX', math.max(redis.call('PTTL', record), 1))
    redis.call('ZADD', answers, now, key)
    redis.call('HSET', sizes, key, size)
    redis.call('INCRBY', bytes, size)
  end
end
return 1
`);

const takeDue = redisScript(`${COMMON}
purge()
local keys = redis.call('ZRANGEBYSCORE', due, '-inf', now, 'LIMIT', 0, ARGV[6])
for _, key in ipairs(keys) do redis.call('ZADD', due, now + ARGV[7], key) end
return keys
`);

const putReply = z.union([
  z.tuple([z.literal('put')]),
  z.tuple([z.literal('full')]),
  z.tuple([z.literal('there'), z.string()]),
]);
const keysReply = z.array(z.string());

type Options = { prefix: string; maxBytes: number };

export function createRedisIdempotencyRecords(redis: Redis, { prefix, maxBytes }: Options): IdempotencyRecords {
  const indexes = INDEXES.map((name) => `${prefix}:idempotency:${name}`);
  const answerPrefix = `${prefix}:idempotency:answer:`;
  const recordKey = (key: string) => storedKey(prefix, key);
  const common = () => [Date.now(), answerPrefix, RECORD_BYTES, maxBytes, KEY_SECONDS];
  const change: IdempotencyRecords['change'] = async (key, from, to, { dueAt, answer } = {}) => {
    const parameters: (string | number)[] = [...common(), key, from, to ?? '', dueAt ?? '', answer ?? ''];
    return (await changeRecord(redis, [...indexes, recordKey(key), answerPrefix + key], parameters)) === 1;
  };
  /** Scans: an index from executions to keys would cost every call, and erasing is rare. */
  async function eraseSome(mockId: string, first: number): Promise<number> {
    const keys = await redis.zrange(`${prefix}:idempotency:all`, String(first), String(first + READ_AT_ONCE - 1));
    const texts = keys.length > 0 ? await redis.mget(keys.map(recordKey)) : [];
    for (const [index, key] of keys.entries()) {
      const text = texts[index] ?? '';
      if (!isRecordOf(mockId, text)) continue;
      if (!(await change(key, text, null))) throw new Error(`the record of ${mockId} changes at this moment`);
    }
    return keys.length;
  }
  return {
    change,
    async erase(mockId) {
      for (let first = 0; (await eraseSome(mockId, first)) === READ_AT_ONCE; first += READ_AT_ONCE - 1);
    },
    async put(key, text, dueAt): Promise<PutRecord> {
      const reply = await put(redis, [...indexes, recordKey(key)], [...common(), key, text, dueAt]);
      const [kind, there = ''] = putReply.parse(reply);
      return kind === 'there' ? { kind, text: there } : { kind };
    },
    get: (key) => redis.get(recordKey(key)),
    answer: (key) => redis.get(answerPrefix + key),
    due: async (count, againAfterMs) =>
      keysReply.parse(await takeDue(redis, indexes, [...common(), count, againAfterMs])),
  };
}
