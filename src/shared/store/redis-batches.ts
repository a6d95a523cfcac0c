import type { Redis } from 'ioredis';
import { z } from 'zod';
import {
  type BatchState,
  batchSchema,
  batchStateSchema,
  type Counts,
  itemDetailSchema,
  itemHeadSchema,
  noCounts,
} from '../cases/batch.ts';
import { caseSchema } from '../cases/case.ts';
import { verdicts } from '../cases/verdict.ts';
import { parseJson } from '../contract/parse-json.ts';
import {
  type BatchLimits,
  type BatchStore,
  chunksOf,
  erasedHead,
  PERMIT_MS,
  sizeOf,
  WANTED_MS,
} from './batch-store.ts';
import { redisScript } from './redis-script.ts';

/** So much longer it is remembered that a batch was kept once. */
const KNOWN_FACTOR = 4;

/** Drops the oldest batches that are over while there is too little room, or they are too old. */
const ROOM = `
local function room(index, running, sizes, bytes, prefix, now, ttl, maxBytes, wanted)
  for _, id in ipairs(redis.call('ZRANGE', index, 0, -1)) do
    local tooOld = tonumber(redis.call('ZSCORE', index, id)) + ttl * 1000 < now
    local fits = tonumber(redis.call('GET', bytes) or '0') + wanted <= maxBytes
    if fits and not tooOld then return true end
    if redis.call('SISMEMBER', running, id) == 0 then
      for _, part in ipairs({'batch', 'state', 'cases', 'sent', 'heads', 'details'}) do redis.call('DEL', prefix .. id .. ':' .. part) end
      redis.call('DECRBY', bytes, tonumber(redis.call('HGET', sizes, id) or '0'))
      redis.call('HDEL', sizes, id)
      redis.call('ZREM', index, id)
    end
  end
  return tonumber(redis.call('GET', bytes) or '0') + wanted <= maxBytes
end
`;

const create = redisScript(`${ROOM}
local prefix, id, now, ttl, maxBytes, maxRunning, size = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
if redis.call('SISMEMBER', KEYS[2], id) == 1 then return 'created' end
if redis.call('SCARD', KEYS[2]) >= maxRunning then return 'too-many' end
if not room(KEYS[1], KEYS[2], KEYS[3], KEYS[4], prefix, now, ttl, maxBytes, size) then return 'no-room' end
redis.call('SET', prefix .. id .. ':batch', ARGV[9])
redis.call('HSET', prefix .. id .. ':state', 'state', 'running')
for index = 10, #ARGV do redis.call('HSET', prefix .. id .. ':cases', index - 10, ARGV[index]) end
redis.call('SET', prefix .. 'known:' .. id, '', 'EX', ARGV[8])
redis.call('ZADD', KEYS[1], now, id)
redis.call('SADD', KEYS[2], id)
redis.call('HSET', KEYS[3], id, size)
redis.call('INCRBY', KEYS[4], size)
return 'created'
`);

const begin = redisScript(`
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
`);

const settle = redisScript(`${ROOM}
local prefix, id, n, head, detail, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('EXISTS', prefix .. id .. ':batch') == 0 then return 0 end
if redis.call('HSETNX', prefix .. id .. ':heads', n, head) == 0 then return 0 end
redis.call('HINCRBY', prefix .. id .. ':state', count, 1)
local size = #head
if detail ~= '' and room(KEYS[1], KEYS[2], KEYS[3], KEYS[4], prefix, tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), #head + #detail) then
  redis.call('HSET', prefix .. id .. ':details', n, detail)
  size = size + #detail
end
redis.call('HINCRBY', KEYS[3], id, size)
redis.call('INCRBY', KEYS[4], size)
return 1
`);

const change = redisScript(`
local state = redis.call('HGET', KEYS[1], 'state')
for index = 5, #ARGV do
  if state == ARGV[index] then
    redis.call('HSET', KEYS[1], 'state', ARGV[2])
    if ARGV[3] == '1' then
      redis.call('HSET', KEYS[1], 'endedAt', ARGV[4])
      redis.call('SREM', KEYS[2], ARGV[1])
    end
    return 1
  end
end
return 0
`);

/** A batch is next at a client unless another one that waits, and could go on, was served longer ago. */
const acquire = redisScript(`
local open, wanted, limits, served = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local batchId, mockId, now, limit, lease, lately = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
redis.call('ZREMRANGEBYSCORE', wanted, '-inf', now - lately)
redis.call('ZADD', wanted, now, batchId)
redis.call('HSET', limits, batchId, limit)
local count = redis.call('ZCARD', open)
local mine = tonumber(redis.call('HGET', served, batchId) or '0')
local granted = count < limit
for _, other in ipairs(redis.call('ZRANGE', wanted, 0, -1)) do
  if other ~= batchId and tonumber(redis.call('HGET', limits, other) or '0') > count
    and tonumber(redis.call('HGET', served, other) or '0') < mine then granted = false end
end
if granted then
  redis.call('ZADD', open, now + lease, mockId)
  redis.call('ZREM', wanted, batchId)
  redis.call('HSET', served, batchId, redis.call('HINCRBY', served, 'grants', 1))
end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, 3600000) end
return granted and 1 or 0
`);

const casesSchema = z.array(caseSchema);
const OVER: readonly BatchState[] = ['cancelled', 'finished'];

type Part = 'batch' | 'state' | 'cases' | 'sent' | 'heads' | 'details';
type KeyOf = (batchId: string, part: Part) => string;

function keysOf(prefix: string) {
  const key: KeyOf = (batchId, part) => `${prefix}${batchId}:${part}`;
  const [index, isRunning, sizes, total] = [`${prefix}index`, `${prefix}running`, `${prefix}sizes`, `${prefix}bytes`];
  const turns = (client: string) => ['open', 'wanted', 'limits', 'served'].map((kind) => `${prefix}${kind}:${client}`);
  return { key, index, isRunning, total, shared: [index, isRunning, sizes, total], turns };
}

/** Batches in Redis, shared by all APIs and workers. Keys carry one hash tag: one slot of a cluster. */
export function createRedisBatches(
  redis: Redis,
  deployment: string,
  { seconds, bytes, running }: BatchLimits,
): BatchStore {
  const prefix = `${deployment}:batch:`;
  const { key, index, isRunning, total, shared, turns } = keysOf(prefix);

  return {
    async create(batch, cases) {
      const chunks = chunksOf(cases);
      const limits = [Date.now(), seconds, bytes, running, sizeOf(batch, chunks), seconds * KNOWN_FACTOR];
      const said = await create(redis, shared, [prefix, batch.batchId, ...limits, JSON.stringify(batch), ...chunks]);
      return z.enum(['created', 'no-room', 'too-many']).parse(said);
    },
    read: (batchId) => read(redis, prefix, batchId),
    list: () => redis.zrevrange(index, 0, -1),
    running: () => redis.smembers(isRunning),
    async cases(batchId, chunk) {
      return casesSchema.parse(parseJson((await redis.hget(key(batchId, 'cases'), String(chunk))) ?? '[]'));
    },
    begin: async (batchId, n, claimBy) => Number(await begin(redis, [key(batchId, 'sent')], [n, claimBy])),
    async settle(batchId, { n, targetIndex, head, detail }) {
      const texts = [JSON.stringify(head), detail ? JSON.stringify(detail) : '', `${targetIndex}:${head.verdict}`];
      // Named, so that a Cluster that moves them refuses the whole step and not its second half.
      const keys = [...shared, key(batchId, 'batch'), key(batchId, 'heads'), key(batchId, 'state')];
      return (await settle(redis, keys, [prefix, batchId, n, ...texts, Date.now(), seconds, bytes])) === 1;
    },
    async heads(batchId, first, last) {
      if (last < first) return [];
      const fields = Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
      const [heads, sent] = await Promise.all([
        redis.hmget(key(batchId, 'heads'), ...fields),
        redis.hmget(key(batchId, 'sent'), ...fields),
      ]);
      return heads.map((text, index) => {
        const claimBy = sent[index] ? Number(sent[index]) : null;
        return itemHeadSchema.parse(text ? parseJson(text) : { verdict: 'pending', claimBy });
      });
    },
    async detail(batchId, n) {
      const text = await redis.hget(key(batchId, 'details'), String(n));
      return text === null ? null : itemDetailSchema.parse(parseJson(text));
    },
    async erase(batchId, { n, chunk, cases }) {
      const text = await redis.hget(key(batchId, 'heads'), String(n));
      const change = redis.multi().hset(key(batchId, 'cases'), chunk, JSON.stringify(cases));
      if (text !== null) {
        const head = erasedHead(itemHeadSchema.parse(parseJson(text)));
        change.hset(key(batchId, 'heads'), n, JSON.stringify(head));
      }
      await change.hdel(key(batchId, 'details'), String(n)).exec();
    },
    async change(batchId, from, to) {
      const parameters = [batchId, to, OVER.includes(to) ? '1' : '0', Date.now(), ...from];
      return (await change(redis, [key(batchId, 'state'), isRunning], parameters)) === 1;
    },
    async acquire({ client, batchId, mockId, limit }) {
      const parameters = [batchId, mockId, Date.now(), limit, PERMIT_MS, WANTED_MS];
      return (await acquire(redis, turns(client), parameters)) === 1;
    },
    async release({ client, mockId }) {
      await redis.zrem(`${prefix}open:${client}`, mockId);
    },
    bytes: async () => Number((await redis.get(total)) ?? 0),
  };
}

async function read(redis: Redis, prefix: string, batchId: string): ReturnType<BatchStore['read']> {
  const key = (part: Part) => `${prefix}${batchId}:${part}`;
  const [text, fields] = await Promise.all([redis.get(key('batch')), redis.hgetall(key('state'))]);
  const batch = batchSchema.safeParse(text === null ? null : parseJson(text));
  if (!batch.success) return (await redis.exists(`${prefix}known:${batchId}`)) === 1 ? 'gone' : null;
  const { targets, cases } = batch.data;
  const counts = targets.map((_, index) => countsOf(fields, index, cases));
  const state = batchStateSchema.catch('running').parse(fields.state);
  const endedAt = fields.endedAt === undefined ? null : Number(fields.endedAt);
  return { batch: batch.data, progress: { state, endedAt, counts } };
}

function countsOf(fields: Record<string, string>, targetIndex: number, cases: number): Counts {
  const counts = noCounts();
  for (const verdict of verdicts) counts[verdict] = Number(fields[`${targetIndex}:${verdict}`] ?? 0);
  const { passed, failed, error, unanswered, skipped } = counts;
  return { ...counts, pending: cases - passed - failed - error - unanswered - skipped };
}
