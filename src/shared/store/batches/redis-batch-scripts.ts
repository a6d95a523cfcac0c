import { redisScript } from '../redis/redis-script.ts';

/** Evicts ended batches, oldest first, while room is missing or they have expired. */
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

export const create = redisScript(`${ROOM}
local prefix, id, now, ttl, maxBytes, maxRunning, size = ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
if redis.call('EXISTS', prefix .. 'known:' .. id) == 1 then return 'created' end
if redis.call('SCARD', KEYS[2]) >= maxRunning then return 'too-many' end
local keyName, maxOfKey = ARGV[9], tonumber(ARGV[10])
if keyName ~= '' then
  local own = 0
  for _, other in ipairs(redis.call('SMEMBERS', KEYS[2])) do
    local kept = redis.call('GET', prefix .. other .. ':batch')
    if kept and cjson.decode(kept).keyName == keyName then own = own + 1 end
  end
  if own >= maxOfKey then return 'too-many-of-key' end
end
if not room(KEYS[1], KEYS[2], KEYS[3], KEYS[4], prefix, now, ttl, maxBytes, size) then return 'no-room' end
redis.call('SET', prefix .. id .. ':batch', ARGV[11])
redis.call('HSET', prefix .. id .. ':state', 'state', 'running')
for index = 12, #ARGV do redis.call('HSET', prefix .. id .. ':cases', index - 12, ARGV[index]) end
redis.call('SET', prefix .. 'known:' .. id, '', 'EX', ARGV[8])
redis.call('ZADD', KEYS[1], now, id)
redis.call('SADD', KEYS[2], id)
redis.call('HSET', KEYS[3], id, size)
redis.call('INCRBY', KEYS[4], size)
return 'created'
`);

/** Records an item's `claimBy` and returns the first one; nothing if the item has its ending. */
export const begin = redisScript(`
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 1 then return false end
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
return redis.call('HGET', KEYS[1], ARGV[1])
`);

/** Records an item's ending once, on request only if no worker has recorded that it begins; its detail only if there is room. */
export const settle = redisScript(`${ROOM}
local prefix, id, n, head, detail, count = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if redis.call('EXISTS', prefix .. id .. ':batch') == 0 then return 0 end
if ARGV[10] == '1' and redis.call('HEXISTS', prefix .. id .. ':sent', n) == 1 then return 0 end
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

/** Changes the state of a batch if it is in one of those named. One that is over runs no more. */
export const change = redisScript(`
local state = redis.call('HGET', KEYS[1], 'state')
for index = 6, #ARGV do
  if state == ARGV[index] then
    redis.call('HSET', KEYS[1], 'state', ARGV[2])
    if ARGV[5] ~= '' then redis.call('HSET', KEYS[1], 'why', ARGV[5]) end
    if ARGV[3] == '1' then
      redis.call('HSET', KEYS[1], 'endedAt', ARGV[4])
      redis.call('SREM', KEYS[2], ARGV[1])
    end
    return 1
  end
end
return 0
`);

/** By the clock of Redis, because those of workers differ. */
const NOW = `
local function nowMs()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end
`;

export const renew = redisScript(`${NOW}
local till = nowMs() + tonumber(ARGV[1])
for index = 2, #ARGV do redis.call('ZADD', KEYS[1], till, ARGV[index]) end
return 1
`);

/** A batch has its turn at a client unless another waiting batch was served longer ago. */
export const acquire = redisScript(`${NOW}
local open, wanted, limits, served = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local batchId, mockId, now, limit, lease, lately = ARGV[1], ARGV[2], nowMs(), tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
redis.call('ZREMRANGEBYSCORE', open, '-inf', now)
redis.call('ZREMRANGEBYSCORE', wanted, '-inf', now - lately)
redis.call('ZADD', wanted, now, batchId)
redis.call('HSET', limits, batchId, limit)
local count = redis.call('ZCARD', open)
local mine = tonumber(redis.call('HGET', served, batchId) or '0')
if redis.call('ZSCORE', open, mockId) then return 1 end
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
