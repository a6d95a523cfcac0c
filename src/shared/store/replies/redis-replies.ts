import { randomUUID } from 'node:crypto';
import type { createRedisBackend, IRedisClient } from 'bullmq';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { parseJson } from '../../contract/json/parse-json.ts';
import { every } from '../../runtime/periodic.ts';
import type { RedisConnections } from '../redis/redis-connections.ts';
import { createFollowers, type Replies, type Reply, type ReplyListener } from './replies.ts';

/** Channels are in the slot of the queue's own keys, as sharded pub/sub of a Redis Cluster wants it. */
const addressPrefix = (prefix: string) => `${prefix}:replies:`;
const CHANGES = ':changes';

/** A connection that died in silence is noticed by this. */
const PING_EVERY_MS = 5000;
const SILENT_FOR_MS = 15_000;

/**
 * Tells what the job holds, not what a worker believes: of an ending that the queue refused nothing is told, unless the job
 * has another one. The text of the input cannot be taken for `replyTo`: a quote inside a string is escaped.
 */
const TELL_ENDING = `
local job, id, address = unpack(ARGV, #ARGV - 2)
local held = redis.call('HMGET', job, 'finishedOn', 'returnvalue', 'data')
if not held[1] then return result end
local replyTo = string.match(held[3] or '', '"replyTo":"([%w{}._:-]+)"')
if replyTo and string.sub(replyTo, 1, #address) ~= address then replyTo = nil end
if replyTo and held[2] then redis.pcall('SPUBLISH', replyTo, 'completed ' .. id .. ' ' .. held[2])
elseif replyTo then redis.pcall('SPUBLISH', replyTo, 'changed ' .. id .. ' ') end
redis.pcall('SPUBLISH', job .. '${CHANGES}', '')
`;

const TELL_CHANGE = `redis.pcall('SPUBLISH', KEYS[1] .. '${CHANGES}', '')`;

type Backend = ReturnType<typeof createRedisBackend>;

/** What is told behind these commands of BullMQ. Its own script returns `result`. */
const TOLD = new Map([
  ['moveToFinished', TELL_ENDING],
  ['updateProgress', TELL_CHANGE],
]);

/** Makes a worker tell how its jobs ended, and what else happened to them, in the same step of Redis as BullMQ's own command. */
export function tellEndings(backend: Backend, prefix: string): void {
  const execute = backend.execCommand.bind(backend);
  const defined = new WeakSet<object>();
  backend.execCommand = (client, name, parameters) => {
    if (!TOLD.has(name) || !('defineCommand' in client)) return execute(client, name, parameters);
    if (!defined.has(client)) for (const command of TOLD.keys()) defineTelling(client, command);
    defined.add(client);
    if (name !== 'moveToFinished') return client.runCommand(telling(name), parameters);
    const id = String(parameters[backend.moveToFinishedKeys.length]);
    return client.runCommand(telling(name), [...parameters, backend.toKey(id), id, addressPrefix(prefix)]);
  };
}

const telling = (name: string) => `${name}:telling`;

/** ioredis keeps the text of each command that was defined. */
const definedCommands = z.record(z.string(), z.object({ lua: z.string(), numberOfKeys: z.number() }));

/** Defines a command of BullMQ once more, with what is told behind it. */
function defineTelling(client: IRedisClient, name: string): void {
  const commands = definedCommands.parse(Reflect.get(client, 'scriptsSet'));
  const [, command] = Object.entries(commands).find(([own]) => own.startsWith(`${name}:`)) ?? [];
  if (!command) throw new Error(`BullMQ has no command ${name}: it is not the version that package.json asks for`);
  const lua = `local function run()\n${command.lua}\nend\nlocal result = run()\n${TOLD.get(name)}\nreturn result`;
  client.defineCommand(telling(name), { numberOfKeys: command.numberOfKeys, lua });
}

type Change = { prefix: string; jobKey: string; id: string; replyTo: string | undefined };

/** Tells that something happened to a job without a worker. */
export async function tellChange(redis: Redis, { prefix, jobKey, id, replyTo }: Change): Promise<void> {
  const told = [redis.spublish(`${jobKey}${CHANGES}`, '')];
  if (replyTo?.startsWith(addressPrefix(prefix))) told.push(redis.spublish(replyTo, `changed ${id} `));
  await Promise.all(told).catch(() => {}); // a hint
}

type Options = {
  open: RedisConnections['open'];
  prefix: string;
  /** The key of a job. */
  keyOf: (id: string) => string;
};

/** Hears replies on a connection of its own. */
export function openRedisReplies({ open, prefix, keyOf }: Options, { onReply, onBack }: ReplyListener): Replies {
  const redis = open({ maxRetriesPerRequest: null, socketTimeout: SILENT_FOR_MS });
  const address = `${addressPrefix(prefix)}${randomUUID()}`;
  const ready = Promise.withResolvers<void>();
  const channelOf = (id: string) => `${keyOf(id)}${CHANGES}`;
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
  return kind === 'changed' ? { kind, id } : undefined;
}
