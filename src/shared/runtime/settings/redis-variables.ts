import { z } from 'zod';
import { because } from '../../contract/issues.ts';
import { parseRedisUrl } from './redis-url.ts';
import { path } from './setting-kinds.ts';

const url = z
  .string()
  .refine((text) => parseRedisUrl(text) !== undefined, because('invalid-format', { expected: 'redis-url' }))
  .optional();

const PREFIX = /^(\{[\w.-]{1,64}\}|[\w.-]{1,64})$/;

/** All keys of a deployment carry it as their hash tag, with or without the braces in the setting. */
const prefix = z
  .string()
  .refine((text) => PREFIX.test(text), because('invalid-format', { expected: 'prefix' }))
  .transform((text) => (text.startsWith('{') ? text : `{${text}}`))
  .default('{rule-server}');

const text = z.string().min(1).optional();

/** The settings that say which Redis it is, and under which keys. */
export const redisVariables = {
  QUEUE_URL: url,
  REDIS_URL: url,
  QUEUE_PREFIX: prefix,
  REDIS_PASSWORD_FILE: path,
  REDIS_CA_FILE: path,
  REDIS_CERT_FILE: path,
  REDIS_KEY_FILE: path,
  SENTINEL_USERNAME: text,
  SENTINEL_PASSWORD: text,
  SENTINEL_PASSWORD_FILE: path,
};
