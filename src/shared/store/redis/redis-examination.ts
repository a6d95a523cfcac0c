import type { Redis } from 'ioredis';
import type { RedisAddress } from '../../runtime/settings/redis-address.ts';

/** The features of Redis that the queue needs beyond plain keys, each as a command that changes nothing. */
const NEEDED: Record<string, (redis: Redis, key: string) => Promise<unknown>> = {
  EVAL: (redis, key) => redis.eval("return redis.call('EXISTS', KEYS[1])", 1, key),
  MULTI: (redis, key) => redis.multi().exists(key).exec(),
  XREAD: (redis, key) => redis.xread('COUNT', 1, 'STREAMS', key, '0'),
  BZPOPMIN: (redis, key) => redis.bzpopmin(key, 0.01),
};
const NOT_POSSIBLE = /unknown command|unsupported|not supported|not allowed|disabled|NOPERM/i;

/**
 * Why this Redis can never serve this deployment, as a sentence with what to change, or undefined. Temporary states (a fail-over, a full
 * disk) do not count.
 */
export async function refusalOf(redis: Redis, { kind, prefix }: RedisAddress): Promise<string | undefined> {
  const info = fieldsOf(await redis.info().catch(() => ''));
  const mode = info.get('redis_mode') ?? info.get('server_mode'); // the latter is Valkey's
  if (mode === 'sentinel') return 'this is a Sentinel: use redis+sentinel://host:26379/name-of-the-master';
  if (mode === 'cluster' && kind !== 'cluster') return 'this is a node of a Cluster: use redis+cluster://';
  const forgets = refusalOfPolicy(info);
  if (forgets !== undefined) return forgets;
  for (const [name, attempt] of Object.entries(NEEDED)) {
    const error = await attempt(redis, `${prefix}:probe:none`).then(
      () => undefined,
      (failed) => String(failed),
    );
    if (error !== undefined && NOT_POSSIBLE.test(error))
      return `${name} cannot be used here (${error}): connect to Redis itself, not to a proxy, with a user who may use it`;
  }
  return undefined;
}

function refusalOfPolicy(info: Map<string, string>): string | undefined {
  const policy = info.get('maxmemory_policy') ?? 'noeviction';
  return policy === 'noeviction'
    ? undefined
    : `a full Redis would forget jobs (maxmemory-policy ${policy}): set it to noeviction`;
}

/** The same for the policy alone, which may change at run time. */
export async function policyRefusalOf(redis: Redis): Promise<string | undefined> {
  return refusalOfPolicy(fieldsOf(await redis.info('memory').catch(() => '')));
}

export async function isReplica(redis: Redis): Promise<boolean> {
  const [role] = await redis.role().catch(() => ['unknown']);
  return role === 'slave';
}

/** The id of the present run of this Redis; undefined where its user may not ask. */
export async function runIdOf(redis: Redis): Promise<string | undefined> {
  return fieldsOf(await redis.info('server').catch(() => '')).get('run_id');
}

function fieldsOf(info: string): Map<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)] as const] : [];
    }),
  );
}
