import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';
import { type ExecutionRecord, recordSchema } from './execution.ts';
import { type History, type HistoryLimits, listPage, MAX_INPUT_KEPT, memberOf } from './history.ts';
import { parseJson } from './parse-json.ts';

const PREFIX = '{rule-server}:history:';
const INDEX = `${PREFIX}index`;
const SIZES = `${PREFIX}sizes`;
const BYTES = `${PREFIX}bytes`;
const TRIMMED_AT_ONCE = 100;

/**
 * Adds one execution and makes room for it in one step, so that no crash leaves a result nobody knows of. A result that
 * was put into the store already is not copied, only renamed. Keys carry one hash tag: one slot of a cluster.
 */
const ADD = `
local index, sizes, bytes, stored = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local prefix, mockId, member, now = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local record, input, body = ARGV[5], ARGV[6], ARGV[7]
local ttl, maxCount, maxBytes, batch = tonumber(ARGV[8]), tonumber(ARGV[9]), tonumber(ARGV[10]), tonumber(ARGV[11])
if redis.call('EXISTS', prefix .. 'record:' .. mockId) == 1 then return 0 end
local size = #record + #input + #body
if body == '' and redis.call('EXISTS', stored) == 1 then
  redis.call('RENAME', stored, prefix .. 'result:' .. mockId)
  redis.call('EXPIRE', prefix .. 'result:' .. mockId, ttl)
  size = size + redis.call('STRLEN', prefix .. 'result:' .. mockId)
elseif body ~= '' then
  redis.call('SET', prefix .. 'result:' .. mockId, body, 'EX', ttl)
end
redis.call('SET', prefix .. 'record:' .. mockId, record, 'EX', ttl)
if input ~= '' then redis.call('SET', prefix .. 'input:' .. mockId, input, 'EX', ttl) end
redis.call('ZADD', index, now, member)
redis.call('HSET', sizes, member, size)
redis.call('INCRBY', bytes, size)
for _ = 1, batch do
  local oldest = redis.call('ZRANGE', index, 0, 0, 'WITHSCORES')
  if #oldest == 0 then break end
  local total = tonumber(redis.call('GET', bytes) or '0')
  if tonumber(oldest[2]) + ttl * 1000 > now and redis.call('ZCARD', index) <= maxCount and total <= maxBytes then break end
  local gone = string.match(oldest[1], '[^|]*$')
  redis.call('DEL', prefix .. 'record:' .. gone, prefix .. 'result:' .. gone, prefix .. 'input:' .. gone, prefix .. 'late:' .. gone)
  redis.call('DECRBY', bytes, tonumber(redis.call('HGET', sizes, oldest[1]) or '0'))
  redis.call('HDEL', sizes, oldest[1])
  redis.call('ZREM', index, oldest[1])
end
return 1
`;

const ADD_DIGEST = createHash('sha1').update(ADD).digest('hex');

/** History in Redis, shared by all APIs and workers. `storedKey` turns a store's key into the Redis key it lies under. */
export function createRedisHistory(
  redis: Redis,
  storedKey: (key: string) => string,
  { count, seconds, bytes }: HistoryLimits,
): History {
  const key = (kind: string, mockId: string) => `${PREFIX}${kind}:${mockId}`;
  const toRecord = (text: string | null): ExecutionRecord | null => {
    const parsed = recordSchema.safeParse(text === null ? null : parseJson(text));
    return parsed.success ? parsed.data : null;
  };

  /** Sends the digest of the script, and the script itself only to a Redis that does not know it yet. */
  const runAdd = async (...parameters: [keys: number, ...(string | number)[]]) => {
    await redis.evalsha(ADD_DIGEST, ...parameters).catch((error) => {
      if (!String(error).includes('NOSCRIPT')) throw error;
      return redis.eval(ADD, ...parameters);
    });
  };

  return {
    async add({ record, input, result }) {
      await runAdd(
        4,
        INDEX,
        SIZES,
        BYTES,
        'stored' in result ? storedKey(result.stored) : `${PREFIX}nothing`,
        PREFIX,
        record.mockId,
        memberOf(record),
        Date.now(),
        JSON.stringify(record),
        input.length <= MAX_INPUT_KEPT ? input : '',
        'body' in result ? result.body : '',
        seconds,
        count,
        bytes,
        TRIMMED_AT_ONCE,
      );
    },
    get: async (mockId) => toRecord(await redis.get(key('record', mockId))),
    result: (mockId) => redis.get(key('result', mockId)),
    input: (mockId) => redis.get(key('input', mockId)),
    async addLateResult(mockId, body) {
      const record = toRecord(await redis.get(key('record', mockId)));
      if (!record) return;
      await redis.set(key('late', mockId), body, 'EX', seconds, 'NX');
      await redis.set(key('record', mockId), JSON.stringify({ ...record, lateResult: true }), 'KEEPTTL');
    },
    lateResult: (mockId) => redis.get(key('late', mockId)),
    list: (filter) =>
      listPage(
        filter,
        async (before, wanted) => {
          const from = before === null ? '+inf' : String(before.at);
          const flat = await redis.zrange(INDEX, from, '-inf', 'BYSCORE', 'REV', 'LIMIT', 0, wanted + 1, 'WITHSCORES');
          const entries = Array.from({ length: flat.length / 2 }, (_, index) => ({
            member: flat[index * 2] ?? '',
            at: Number(flat[index * 2 + 1]),
          }));
          // Entries of one millisecond stand in reverse order of their names; what the last page showed is skipped.
          return before === null
            ? entries.slice(0, wanted)
            : entries.filter(({ at, member }) => at < before.at || member < before.after);
        },
        async (mockIds) =>
          mockIds.length === 0 ? [] : (await redis.mget(mockIds.map((mockId) => key('record', mockId)))).map(toRecord),
      ),
  };
}
