import { randomUUID } from 'node:crypto';
import type { Redis } from 'ioredis';
import type { EndedJob } from '../../contract/execution-record.ts';
import { parseJson } from '../../contract/json/parse-json.ts';
import { every } from '../../runtime/upkeep.ts';
import type { Publication } from '../../store/history/history.ts';
import type { RedisConnections } from '../../store/redis/redis-connections.ts';
import { createFollowers, replyToOf } from '../followers.ts';
import type { Replies, Reply, ReplyListener } from '../queue.ts';

/** Channels are in the slot of the queue's own keys, as sharded pub/sub of a Redis Cluster wants it. */
const addressPrefix = (prefix: string) => `${prefix}:replies:`;
const followersOf = (jobKey: string) => `${jobKey}:changes`;

/** A connection on which nothing comes for so long, though something was asked, is made anew. */
export const DEAD_AFTER_MS = 15_000;

/** What is published of the jobs of a queue. `keyOf`: the key of a job. A job may name no channel but an address. */
export function createPublisher(redis: Redis, { prefix, keyOf }: { prefix: string; keyOf: (id: string) => string }) {
  const known = (replyTo: string | undefined) => (replyTo?.startsWith(addressPrefix(prefix)) ? replyTo : undefined);

  /** Publishes a message of which nothing depends. */
  async function publish({ replyTo, message, followers }: Publication): Promise<void> {
    const sent = [redis.spublish(followers, '')];
    if (replyTo !== undefined) sent.push(redis.spublish(replyTo, message));
    await Promise.all(sent).catch(() => {});
  }

  return {
    publish,
    ending({ id, data, value }: Pick<EndedJob, 'id' | 'data' | 'value'>): Publication {
      const replyTo = known(replyToOf(data));
      const message = replyTo === undefined ? '' : `ended ${id} ${JSON.stringify(value)}`;
      return { replyTo, message, followers: followersOf(keyOf(id)) };
    },
    change: (id: string, replyTo?: string) =>
      publish({ replyTo: known(replyTo), message: `changed ${id} `, followers: followersOf(keyOf(id)) }),
  };
}

type Options = {
  open: RedisConnections['open'];
  prefix: string;
  keyOf: (id: string) => string;
};

/** Hears replies on a connection of its own. */
export function openRedisReplies({ open, prefix, keyOf }: Options, { onReply, onBack }: ReplyListener): Replies {
  const redis = open({ maxRetriesPerRequest: null, socketTimeout: DEAD_AFTER_MS });
  const address = `${addressPrefix(prefix)}${randomUUID()}`;
  const ready = Promise.withResolvers<void>();
  const followers = createFollowers(
    // Changes from before it listens are found by one more look.
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

  redis.on('ready', () => void listen().catch(() => {})); // a connection that is lost again becomes ready again
  redis.on('smessage', (channel: string, message: string) => {
    if (channel !== address) return followers.tell(channel);
    const reply = readReply(message);
    if (reply) onReply(reply);
  });
  const pings = every(
    DEAD_AFTER_MS / 3,
    () => redis.ping(),
    () => {},
  );

  return {
    address,
    ready: ready.promise,
    follow: (id, listener) => followers.add(followersOf(keyOf(id)), listener),
    async close() {
      redis.disconnect();
      await pings.stop();
    },
  };
}

function readReply(message: string): Reply | undefined {
  const [kind, id = ''] = message.split(' ', 2);
  if (kind === 'ended') return { kind, id, value: parseJson(message.slice(`${kind} ${id} `.length)) };
  return kind === 'changed' ? { kind, id } : undefined;
}
