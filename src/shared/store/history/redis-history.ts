import type { Redis } from 'ioredis';
import { z } from 'zod';
import { type ExecutionRecord, recordSchema } from '../../contract/execution-record.ts';
import { parseJson } from '../../contract/json/parse-json.ts';
import { storedKey } from '../key-value-store.ts';
import { redisScript } from '../redis/redis-script.ts';
import {
  type HistoryLimits,
  type HistoryPart,
  type Kept,
  listPage,
  MAX_INPUT_KEPT,
  memberOf,
  type Publication,
  resultKey,
} from './history.ts';

const TRIMMED_AT_ONCE = 100;
/** A script adds fewer executions than it may evict, and little enough text that Redis is blocked for a few milliseconds only. */
const ADDED_AT_ONCE = 50;
const ADDED_LENGTH = 500_000;
/** A waiting call may read its result from here, so it is not evicted for this long. */
const READABLE_SECONDS = 30;

const TRIM = `
local function trim(index, sizes, bytes, prefix, now, ttl, maxCount, maxBytes, batch, readable)
  for _ = 1, tonumber(batch) do
    local oldest = redis.call('ZRANGE', index, 0, 0, 'WITHSCORES')
    if #oldest == 0 then return end
    local member, at = oldest[1], tonumber(oldest[2])
    local fits = redis.call('ZCARD', index) <= tonumber(maxCount)
      and tonumber(redis.call('GET', bytes) or '0') <= tonumber(maxBytes)
    if fits and at + ttl * 1000 > now then return end
    local gone = string.match(member, '[^|]*$')
    redis.call('DEL', prefix .. 'record:' .. gone, prefix .. 'input:' .. gone, prefix .. 'late:' .. gone)
    local awaited = redis.call('DEL', prefix .. 'delivered:' .. gone) == 0
    if awaited and at + readable * 1000 > now then redis.call('EXPIRE', prefix .. 'result:' .. gone, readable)
    else redis.call('DEL', prefix .. 'result:' .. gone) end
    redis.call('DECRBY', bytes, tonumber(redis.call('HGET', sizes, member) or '0'))
    redis.call('HDEL', sizes, member)
    redis.call('ZREM', index, member)
  end
end
`;

/** A reply is a hint: if this user may not publish, the record is added all the same. */
const PUBLISH = `
local function publish(replyTo, message, followers)
  if replyTo ~= '' then redis.pcall('SPUBLISH', replyTo, message) end
  if followers ~= '' then redis.pcall('SPUBLISH', followers, '') end
end
`;

/**
 * Adds executions and evicts others in one script, so that no crash leaves a result without its record. A result that is in the store
 * already is renamed, not copied.
 */
const add = redisScript(`${TRIM}${PUBLISH}
local index, sizes, bytes = KEYS[1], KEYS[2], KEYS[3]
local prefix, now, ttl = ARGV[1], tonumber(ARGV[2]), ARGV[3]
local function addOne(stored, mockId, member, at, record, input, body)
  if redis.call('EXISTS', prefix .. 'record:' .. mockId) == 1 then return end
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
  redis.call('ZADD', index, at, member)
  redis.call('HSET', sizes, member, size)
  redis.call('INCRBY', bytes, size)
end
for one = 4, #KEYS do
  local at = 9 * (one - 4) + 8
  addOne(KEYS[one], unpack(ARGV, at, at + 5))
  publish(unpack(ARGV, at + 6, at + 8))
end
trim(index, sizes, bytes, prefix, now, unpack(ARGV, 3, 7))
return 1
`);

const delivered = redisScript(`
local delivered, record, result, stored, readable = KEYS[1], KEYS[2], KEYS[3], KEYS[4], ARGV[1]
if redis.call('EXISTS', record, stored) > 0 then redis.call('SET', delivered, '', 'EX', readable)
else redis.call('DEL', result) end
return 1
`);

const addLate = redisScript(`${TRIM}
local index, sizes, bytes, record, late = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local prefix, member, now, body, changed = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local left = redis.call('TTL', record)
if left < 1 or redis.call('SET', late, body, 'EX', left, 'NX') == false then return 0 end
redis.call('SET', record, changed, 'KEEPTTL')
redis.call('HINCRBY', sizes, member, #body)
redis.call('INCRBY', bytes, #body)
trim(index, sizes, bytes, prefix, now, unpack(ARGV, 6))
return 1
`);

const erase = redisScript(`
local index, sizes, bytes, prefix, mockId, member = KEYS[1], KEYS[2], KEYS[3], ARGV[1], ARGV[2], ARGV[3]
for _, kind in ipairs({'record', 'input', 'result', 'late', 'delivered'}) do redis.call('DEL', prefix .. kind .. ':' .. mockId) end
if redis.call('ZREM', index, member) == 1 then
  redis.call('DECRBY', bytes, tonumber(redis.call('HGET', sizes, member) or '0'))
  redis.call('HDEL', sizes, member)
end
return 1
`);

const page = redisScript(`
local index, after, at, count = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3])
local rank = -1
if after ~= '' then rank = redis.call('ZREVRANK', index, after) end
if rank then return redis.call('ZREVRANGE', index, rank + 1, rank + count, 'WITHSCORES') end
return redis.call('ZREVRANGEBYSCORE', index, at, '-inf', 'WITHSCORES', 'LIMIT', 0, count)
`);

const pageSchema = z
  .array(z.string())
  .transform((all) => all.flatMap((member, n) => (n % 2 === 0 ? [{ member, at: Number(all[n + 1]) }] : [])));

type Name = 'history' | 'history-of-batches' | 'pinned-history';

type KeptIn = { index: string; total: string; seconds: number };

export const historyPrefix = (prefix: string, name: Name) => `${prefix}:${name}:`;

/** Expired ones are removed with the next addition, and are not readable until then. */
async function keptIn(redis: Redis, { index, total, seconds }: KeptIn): Promise<Kept> {
  const from = Date.now() - seconds * 1000;
  const [executions, bytes, [, oldest]] = await Promise.all([
    redis.zcount(index, from, '+inf'),
    redis.get(total),
    redis.zrange(index, from, '+inf', 'BYSCORE', 'LIMIT', 0, 1, 'WITHSCORES'),
  ]);
  return { executions, bytes: Number(bytes ?? 0), oldest: oldest === undefined ? null : Number(oldest) };
}

type Addition = { stored: string; parts: string[] };

/** Group commit: additions of one turn of the event loop are sent together, and so are those that come while others are sent. Each settles with its group. */
function gather(send: (additions: readonly Addition[]) => Promise<void>): (addition: Addition) => Promise<void> {
  let waiting: { additions: Addition[]; length: number; sent: PromiseWithResolvers<void> } | undefined;
  let sending = 0;

  function sendNow(): void {
    if (!waiting) return;
    const { additions, sent } = waiting;
    waiting = undefined;
    sending++;
    const done = () => {
      sending--;
      if (sending === 0) sendNow();
    };
    send(additions).then(sent.resolve, sent.reject).finally(done);
  }

  return (addition) => {
    waiting ??= { additions: [], length: 0, sent: Promise.withResolvers() };
    waiting.additions.push(addition);
    waiting.length += addition.parts.reduce((sum, { length }) => sum + length, 0);
    const { promise } = waiting.sent;
    if (waiting.additions.length >= ADDED_AT_ONCE || waiting.length >= ADDED_LENGTH) sendNow();
    else if (sending === 0 && waiting.additions.length === 1) setImmediate(sendNow);
    return promise;
  };
}

const argsOf = ({ replyTo = '', message, followers }: Publication = { replyTo: '', message: '', followers: '' }) => [
  replyTo,
  message,
  followers,
];

export function createRedisHistory(
  redis: Redis,
  own: { prefix: string; name: Name },
  { count, seconds, bytes }: HistoryLimits,
): HistoryPart {
  const prefix = historyPrefix(own.prefix, own.name);
  const [index, sizes, total] = [`${prefix}index`, `${prefix}sizes`, `${prefix}bytes`];
  const key = (kind: string, mockId: string) => `${prefix}${kind}:${mockId}`;
  const toRecord = (text: string | null): ExecutionRecord | null => {
    const parsed = recordSchema.safeParse(text === null ? null : parseJson(text));
    return parsed.success ? parsed.data : null;
  };

  const limits = [seconds, count, bytes, TRIMMED_AT_ONCE, READABLE_SECONDS];
  const addTogether = gather(async (additions: readonly Addition[]) => {
    const keys = additions.map(({ stored }) => stored);
    const parameters = additions.flatMap(({ parts }) => parts);
    await add(redis, [index, sizes, total, ...keys], [prefix, Date.now(), ...limits, ...parameters]);
  });

  return {
    add({ record, input, result }, publication) {
      const stored = 'stored' in result ? storedKey(own.prefix, result.stored) : `${prefix}nothing`;
      const keptInput = input.length <= MAX_INPUT_KEPT ? input : '';
      const body = 'body' in result ? result.body : '';
      const text = JSON.stringify(record);
      return addTogether({
        stored,
        parts: [record.mockId, memberOf(record), String(Date.now()), text, keptInput, body, ...argsOf(publication)],
      });
    },
    get: async (mockId) => toRecord(await redis.get(key('record', mockId))),
    result: (mockId) => redis.get(key('result', mockId)),
    async delivered(mockId) {
      const keys = [key('delivered', mockId), key('record', mockId), key('result', mockId)];
      await delivered(redis, [...keys, storedKey(own.prefix, resultKey(mockId))], [READABLE_SECONDS]);
    },
    input: (mockId) => redis.get(key('input', mockId)),
    async addLateResult(mockId, body, rules) {
      const text = await redis.get(key('record', mockId));
      const record = toRecord(text);
      if (text === null || !record) return;
      // Keeps unknown fields, which a newer version may have written.
      const changed = JSON.stringify({ ...JSON.parse(text), lateResult: true, ...(rules && { rules }) });
      const keys = [index, sizes, total, key('record', mockId), key('late', mockId)];
      await addLate(redis, keys, [prefix, memberOf(record), Date.now(), body, changed, ...limits]);
    },
    async erase(mockId) {
      const record = toRecord(await redis.get(key('record', mockId)));
      await erase(redis, [index, sizes, total], [prefix, mockId, record ? memberOf(record) : '']);
    },
    lateResult: (mockId) => redis.get(key('late', mockId)),
    kept: () => keptIn(redis, { index, total, seconds }),
    list: (filter) =>
      listPage(
        filter,
        async (after, wanted) =>
          pageSchema.parse(await page(redis, [index], [after?.member ?? '', after?.at ?? 0, wanted])),
        async (mockIds) =>
          mockIds.length === 0 ? [] : (await redis.mget(mockIds.map((mockId) => key('record', mockId)))).map(toRecord),
      ),
  };
}
