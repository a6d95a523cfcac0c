import { z } from 'zod';
import { parseRedisUrl, REDIS_URL_FORMS } from './redis-url.ts';
import { path } from './setting-kinds.ts';

const url = z
  .string()
  .refine((text) => parseRedisUrl(text) !== undefined, REDIS_URL_FORMS)
  .optional();

/** All keys of a deployment carry it as their hash tag, with or without the braces in the setting. */
const prefix = z
  .string()
  .regex(/^(\{[\w.-]{1,64}\}|[\w.-]{1,64})$/, 'must be 1 to 64 letters, digits, dots, hyphens and underscores')
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
