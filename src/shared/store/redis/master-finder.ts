import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { z } from 'zod';
import { replyWithin, SOON_MS, whileItRuns } from '../../runtime/async.ts';
import type { RedisAddress } from '../../runtime/settings/redis-address.ts';
import type { Endpoint } from '../../runtime/settings/redis-url.ts';
import { askClusterNode, type View } from './cluster-view.ts';

export type MasterFinder = {
  /** The master in the view with the newest epoch. Rejects with the answers if there is none. */
  find(): Promise<Endpoint>;
  close(): void;
};

const MOST_ANSWER_WITHIN_MS = 300;
/** After this long without an answer there is no master. Until then they, or this process, may only be busy. */
const ANY_ANSWERS_WITHIN_MS = 2000;
/** A few nodes are enough: a new epoch reaches all nodes of a Cluster within a second. */
const ASK_AT_MOST = 9;

/** Asks all Sentinels, or several nodes of the Cluster, at once: some of them may be dead, frozen or cut off. */
export function createMasterFinder(address: RedisAddress): MasterFinder {
  const peers = new Map<string, { at: Endpoint; redis: Redis }>();
  const options = peerOptions(address);
  const ask = (redis: Redis, at: Endpoint) =>
    address.kind === 'sentinel'
      ? askSentinel(redis, address.masterName)
      : askClusterNode(redis, { at, prefix: address.prefix, byName: address.usesTls });

  function keep(endpoints: readonly Endpoint[]): void {
    const wanted = new Map([...address.endpoints, ...endpoints].map((at) => [nameOf(at), at]));
    for (const [name, at] of [...wanted].slice(0, ASK_AT_MOST))
      if (!peers.has(name)) peers.set(name, { at, redis: openPeer(at, options) });
    for (const [name, { redis }] of peers) {
      if (wanted.has(name)) continue;
      redis.disconnect();
      peers.delete(name);
    }
  }

  async function look(): Promise<Endpoint> {
    if (peers.size === 0) keep([]);
    const asked = [...peers.values()].map(({ redis, at }) => replyWithin(ANY_ANSWERS_WITHIN_MS, ask(redis, at)));
    const { views, errors } = await mostOf(asked);
    const [newest] = views.sort((one, other) => other.epoch - one.epoch);
    if (!newest) throw new Error(`no master was found: ${[...new Set(errors)].join('; ') || 'no answer'}`);
    keep(newest.others);
    return newest.master;
  }

  return {
    find: whileItRuns(look),
    close() {
      for (const { redis } of peers.values()) redis.disconnect();
      peers.clear();
    },
  };
}

export const nameOf = ({ host, port }: Endpoint) => `${host}:${port}`;

function peerOptions({ kind, username, password, sentinel, tls }: RedisAddress) {
  const credentials = kind === 'sentinel' ? sentinel : { username, password };
  return {
    ...(credentials.username !== undefined && { username: credentials.username }),
    ...(credentials.password !== undefined && { password: credentials.password }),
    ...(tls && { tls }),
    connectTimeout: ANY_ANSWERS_WITHIN_MS,
    maxRetriesPerRequest: 0,
    enableReadyCheck: false,
    retryStrategy: () => 250,
  };
}

function openPeer({ host, port }: Endpoint, options: ReturnType<typeof peerOptions>): Redis {
  const peer = new Redis({ ...options, host, port });
  peer.on('error', () => {}); // the caller reports that none answers
  return peer;
}

/** All answers, or those that arrived shortly after a majority, or, after a while, the first one. */
async function mostOf(asked: Promise<View>[]): Promise<{ views: View[]; errors: string[] }> {
  const views: View[] = [];
  const errors: string[] = [];
  const first = Promise.withResolvers<void>();
  const most = Promise.withResolvers<void>();
  const noted = asked.map((one) =>
    one.then(
      (view) => {
        views.push(view);
        first.resolve();
        if (views.length * 2 > asked.length) most.resolve();
      },
      (error) => void errors.push(error instanceof Error ? error.message : String(error)),
    ),
  );
  await Promise.race([
    Promise.all(noted),
    // The first answer may come from a Sentinel that was cut off before the fail-over.
    most.promise.then(() => delay(SOON_MS)),
    delay(MOST_ANSWER_WITHIN_MS).then(() => first.promise),
  ]);
  return { views: [...views], errors };
}

const addressSchema = z.tuple([z.string(), z.coerce.number().int().min(1)]).nullable();
const masterSchema = z.union([
  z.array(z.string()).transform((texts) => texts[texts.indexOf('config-epoch') + 1]),
  z.record(z.string(), z.unknown()).transform((fields) => fields['config-epoch']),
]);

/** Both commands are needed: only `get-master-addr-by-name` names a new master at once, only `master` has the epoch. */
async function askSentinel(redis: Redis, name: string): Promise<View> {
  const [address, master] = await Promise.all([
    redis.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name).then((reply) => addressSchema.parse(reply)),
    redis.call('SENTINEL', 'MASTER', name).catch((error) => {
      if (String(error).includes('No such master')) return null;
      throw error;
    }),
  ]);
  if (address === null || master === null) throw new Error(`the Sentinels know no master named "${name}"`);
  const [host, port] = address;
  return { master: { host, port }, epoch: z.coerce.number().parse(masterSchema.parse(master)), others: [] };
}
