import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { EraseJob } from './queue-backend.ts';
import { redisScript } from './redis-script.ts';

const AT_ONCE = 500;

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

export function redisEraseJob(redis: Redis): EraseJob {
  return async (queue, mockId) => {
    await queue.remove(mockId, { removeChildren: false });
    for (let from = '-'; from !== ''; )
      from = z.string().parse(await eraseEvents(redis, [queue.toKey('events')], [mockId, from, AT_ONCE]));
  };
}
