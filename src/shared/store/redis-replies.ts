import { randomUUID } from 'node:crypto';
import type { createRedisBackend } from 'bullmq';
import { Redis } from 'ioredis';
import { parseJson } from '../contract/parse-json.ts';
import { every } from '../runtime/periodic.ts';
import type { RedisConnections } from './redis-connections.ts';
import { createFollowers, type Replies, type Reply, type ReplyListener } from './replies.ts';

/** Channels lie in the slot of the queue's own keys, as sharded pub/sub of a Redis Cluster wants it. */
const ADDRESS = '{rule-server}:replies:';
const CHANGES = ':changes';

/** A connection that died in silence is noticed by this. */
const PING_EVERY_MS = 5000;
const SILENT_FOR_MS = 15_000;

/**
 * Tells what the job holds, not what a worker believes: of an ending that the queue refused nothing is told, unless the job
 * has another one. The text of the input cannot be taken for `replyTo`: a quote inside a string is escaped.
 */
const TELL_ENDING = `
local job, id = KEYS[1], ARGV[1]
local held = redis.call('HMGET', job, 'finishedOn', 'returnvalue', 'failedReason', 'data')
if not held[1] then return 0 end
local replyTo = string.match(held[4] or '', '"replyTo":"({rule%-server}:replies:[%x-]+)"')
if replyTo and held[2] then redis.call('SPUBLISH', replyTo, 'completed ' .. id .. ' ' .. held[2])
elseif replyTo then redis.call('SPUBLISH', replyTo, 'failed ' .. id .. ' ' .. (held[3] or '')) end
redis.call('SPUBLISH', job .. '${CHANGES}', '')
return 1
`;

const TELL_CHANGE = `return redis.call('SPUBLISH', KEYS[1] .. '${CHANGES}', '')`;

type Backend = ReturnType<typeof createRedisBackend>;

/**
 * Makes a worker tell how its jobs ended: a second script right behind the completion, on the same connection, so that it
 * costs no wait.
 */
export function tellEndings(backend: Backend): void {
  const execute = backend.execCommand.bind(backend);
  const defined = new WeakSet<object>();
  backend.execCommand = (client, name, parameters) => {
    const done = execute(client, name, parameters);
    if (!('defineCommand' in client)) return done;
    if (!defined.has(client)) {
      client.defineCommand('tellEnding', { numberOfKeys: 1, lua: TELL_ENDING });
      client.defineCommand('tellChange', { numberOfKeys: 1, lua: TELL_CHANGE });
      defined.add(client);
    }
    const id = String(parameters[backend.moveToFinishedKeys.length]);
    if (name === 'moveToFinished') tell(() => client.runCommand('tellEnding', [backend.toKey(id), id]), done);
    if (name === 'updateProgress') client.runCommand('tellChange', [parameters[0]]).catch(() => {});
    return done;
  };
}

/** A Redis that lost its scripts runs the second one first: then it is told once more. */
function tell(send: () => Promise<unknown>, done: Promise<unknown>): void {
  Promise.all([send(), done])
    .then(([told, finished]) => (told === 0 && !(Number(finished) < 0) ? send() : undefined))
    .catch(() => {}); // a hint
}

/** Tells that something happened to a job without a worker. */
export async function tellChange(redis: Redis, jobKey: string, id: string, replyTo: string | undefined): Promise<void> {
  const told = [redis.spublish(`${jobKey}${CHANGES}`, '')];
  if (replyTo?.startsWith(ADDRESS)) told.push(redis.spublish(replyTo, `changed ${id} `));
  await Promise.all(told).catch(() => {}); // a hint
}

type Options = {
  maxRetriesPerRequest: null;
  retryStrategy: (attempt: number) => number;
  /** Told of the connection. */
  keep: RedisConnections['keep'];
};

/** Hears replies on a connection of its own. `keyOf`: the key of a job. */
export function openRedisReplies(
  url: string,
  { keep, ...options }: Options,
  keyOf: (id: string) => string,
  { onReply, onBack }: ReplyListener,
): Replies {
  const redis = new Redis(url, { ...options, socketTimeout: SILENT_FOR_MS });
  keep(redis);
  const address = `${ADDRESS}${randomUUID()}`;
  const ready = Promise.withResolvers<void>();
  const channelOf = (id: string) => `${keyOf(id)}${CHANGES}`;
  const followers = createFollowers(
    // What happened before it listens is found by another look.
    (channel) =>
      void redis.ssubscribe(channel).then(
        () => followers.tell(channel),
        () => {},
      ),
    (channel) => void redis.sunsubscribe(channel).catch(() => {}),
  );
  let isFirst = true;

  async function listen(): Promise<void> {
    await redis.ssubscribe(address);
    if (isFirst) ready.resolve();
    else onBack();
    isFirst = false;
  }

  redis.on('error', () => {}); // the queue's own connection reports the same fault
  redis.on('ready', () => void listen().catch(() => {})); // a connection that is lost again becomes ready again
  redis.on('smessage', (channel: string, message: string) => {
    if (channel !== address) return followers.tell(channel);
    const reply = readReply(message);
    if (reply) onReply(reply);
  });
  const pings = every(
    PING_EVERY_MS,
    () => redis.ping(),
    () => {},
  );

  return {
    address,
    ready: ready.promise,
    follow: (id, listener) => followers.add(channelOf(id), listener),
    async close() {
      redis.disconnect();
      await pings.stop();
    },
  };
}

function readReply(message: string): Reply | undefined {
  const [kind, id = ''] = message.split(' ', 2);
  const text = message.slice(`${kind} ${id} `.length);
  if (kind === 'completed') return { kind, id, value: parseJson(text) };
  if (kind === 'failed') return { kind, id, reason: text };
  return kind === 'changed' ? { kind, id } : undefined;
}
