import { problemAt } from '../../reasons/problems.ts';
import { errnoOf } from '../errno.ts';
import { readText } from '../read-text.ts';
import { parseRedisUrl, type RedisUrl } from './redis-url.ts';
import { BadSettings, badSettings, queueUrlOf, type Settings } from './settings.ts';

/** How to reach Redis, with all secrets, and the prefix of every key of this deployment. */
export type RedisAddress = RedisUrl & {
  /** `{name}`: one hash tag keeps all keys of a deployment in one slot of a Cluster. */
  prefix: string;
  /** Authorities, certificate and key in PEM; undefined without TLS. */
  tls: { ca?: string; cert?: string; key?: string } | undefined;
  sentinel: { username: string | undefined; password: string | undefined };
};

export const DEFAULT_PREFIX = '{rule-server}';

/** The Redis of a URL alone. Throws `BadSettings`. */
export function redisAddress(url: string, prefix = DEFAULT_PREFIX): RedisAddress {
  const parsed = parseRedisUrl(url);
  if (!parsed) throw badSettings([problemAt('REDIS_URL', 'invalid-format', { expected: 'redis-url' })]);
  const tls = parsed.usesTls ? {} : undefined;
  return { ...parsed, prefix, tls, sentinel: { username: undefined, password: undefined } };
}

/**
 * The Redis that the settings name, with the secrets that are in files; undefined when they name none and there is no
 * `otherwise`. Throws `BadSettings` when a file cannot be read.
 */
export async function readRedisAddress(settings: Settings, otherwise?: string): Promise<RedisAddress | undefined> {
  const url = queueUrlOf(settings) ?? otherwise;
  if (url === undefined) return undefined;
  const { REDIS_PASSWORD_FILE, SENTINEL_USERNAME, SENTINEL_PASSWORD, SENTINEL_PASSWORD_FILE } = settings;
  const address = redisAddress(url, settings.QUEUE_PREFIX);
  return {
    ...address,
    password: (await secretIn('REDIS_PASSWORD_FILE', REDIS_PASSWORD_FILE)) ?? address.password,
    tls: address.tls && (await certificates(settings)),
    sentinel: {
      username: SENTINEL_USERNAME,
      password: (await secretIn('SENTINEL_PASSWORD_FILE', SENTINEL_PASSWORD_FILE)) ?? SENTINEL_PASSWORD,
    },
  };
}

async function certificates({
  REDIS_CA_FILE,
  REDIS_CERT_FILE,
  REDIS_KEY_FILE,
}: Settings): Promise<RedisAddress['tls']> {
  const ca = await secretIn('REDIS_CA_FILE', REDIS_CA_FILE);
  const cert = await secretIn('REDIS_CERT_FILE', REDIS_CERT_FILE);
  const key = await secretIn('REDIS_KEY_FILE', REDIS_KEY_FILE);
  return { ...(ca !== undefined && { ca }), ...(cert !== undefined && { cert }), ...(key !== undefined && { key }) };
}

async function secretIn(setting: string, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const text = await readText(path).catch((error) => {
    throw new BadSettings(`${setting} cannot be read: ${errnoOf(error) || error.message} at ${path}.`, {
      cause: error,
    });
  });
  return text.trim();
}
