import { z } from 'zod';
import { because, problemsOf } from '../../contract/issues.ts';
import { isOneSlipAway } from '../../contract/nearest.ts';
import { historyOffSetting, maskSetting } from '../../privacy/privacy.ts';
import { type Problem, problemLines } from '../../reasons/problems.ts';
import { redisVariables } from './redis-variables.ts';
import {
  apiKeys,
  corsOrigins,
  HEADER_NAME,
  LOG_LEVELS,
  MIB,
  milliseconds,
  openBodyBytes,
  path,
  port,
  trustedProxies,
  whole,
} from './setting-kinds.ts';

const variables = z.object({
  ...redisVariables,
  SHARED_DIR: path,
  EMBEDDED_STORE: z.enum(['disk', 'memory']).default('disk'),
  EMBEDDED_FLUSH: z.enum(['0', '1']).default('1'),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port(8080),
  WORKER_PORT: port(0),
  // Claims and files are swept after 10 minutes, so a wait must end before.
  RESULT_TIMEOUT_MS: milliseconds(60_000, { min: 100, max: 540_000 }),
  POLL_INTERVAL_MS: milliseconds(1000, { min: 20, max: 60_000 }),
  CLIENT_TIMEOUT_MS: milliseconds(30_000, { min: 100 }),
  QUEUE_TIMEOUT_MS: milliseconds(10_000, { min: 100 }),
  SHUTDOWN_GRACE_MS: milliseconds(75_000),
  SHUTDOWN_DELAY_MS: milliseconds(0, { min: 0 }),
  WORKER_CONCURRENCY: whole(2000, 1, 100_000),
  MAX_QUEUED: whole(10_000, 1, 1_000_000),
  MAX_WAITS_PER_CLIENT: whole(500, 1, 100_000),
  MAX_BODY_BYTES: whole(MIB, 1024, 64 * MIB),
  /** All request bodies of open calls together; by default a sixteenth of the memory this process may have, 4 to 48 MiB. */
  MAX_OPEN_BODY_BYTES: whole(openBodyBytes(), 1024, 64 * 1024 * MIB),
  MAX_RESULT_BYTES: whole(8 * MIB, 1024, 256 * MIB),
  HISTORY_COUNT: whole(10_000, 0, 1_000_000),
  HISTORY_SECONDS: whole(604_800, 60, 31_536_000),
  HISTORY_BYTES: whole(256 * MIB, 0, 64 * 1024 * MIB),
  HISTORY_OFF: historyOffSetting,
  MASK: maskSetting,
  IDEMPOTENCY_BYTES: whole(1024 * MIB, 1024, 64 * 1024 * MIB),
  BATCH_SECONDS: whole(604_800, 60, 31_536_000),
  BATCH_BYTES: whole(256 * MIB, 0, 64 * 1024 * MIB),
  TREES_BYTES: whole(32 * MIB, 0, 64 * 1024 * MIB),
  MAX_BATCHES: whole(20, 1, 1000),
  MAX_BATCH_BYTES: whole(16 * MIB, 1024, 256 * MIB),
  API_KEYS: apiKeys,
  API_KEYS_FILE: path,
  FSYNC: z.enum(['0', '1']).default('0'),
  ALLOW_ANONYMOUS: z.enum(['0', '1']).default('0'),
  KEY_CALLS_PER_SECOND: whole(500, 1, 1_000_000),
  KEY_OPEN_CALLS: whole(1000, 1, 1_000_000),
  KEY_STREAMS: whole(200, 1, 1_000_000),
  KEY_BATCHES: whole(4, 1, 1_000_000),
  AUDIT_LOG: path,
  TRUSTED_PROXIES: trustedProxies,
  TRUSTED_USER_HEADER: z
    .string()
    .refine((text) => HEADER_NAME.test(text), because('invalid-format', { expected: 'header-name' }))
    .optional(),
  CORS_ORIGINS: corsOrigins,
  ICE_ENDPOINTS: z
    .enum(['0', '1'])
    .default('0')
    .transform((given) => given === '1'),
  LOG_LEVEL: z.enum(LOG_LEVELS).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .string()
    .refine((text) => /^https?:/i.test(text) && URL.canParse(text), because('invalid-format', { expected: 'http-url' }))
    .optional(),
});

const settingsSchema = variables
  .refine(
    ({ TRUSTED_USER_HEADER, TRUSTED_PROXIES }) => TRUSTED_USER_HEADER === undefined || TRUSTED_PROXIES.length > 0,
    {
      path: ['TRUSTED_PROXIES'],
      ...because('no-proxies', {}),
    },
  )
  .refine(({ REDIS_CERT_FILE, REDIS_KEY_FILE }) => (REDIS_CERT_FILE === undefined) === (REDIS_KEY_FILE === undefined), {
    path: ['REDIS_CERT_FILE'],
    ...because('pair-of-settings', { other: 'REDIS_KEY_FILE' }),
  })
  .refine(
    ({ QUEUE_URL, REDIS_URL, REDIS_CA_FILE, REDIS_CERT_FILE }) =>
      (REDIS_CA_FILE ?? REDIS_CERT_FILE) === undefined || (QUEUE_URL ?? REDIS_URL ?? '').startsWith('rediss'),
    { path: ['REDIS_URL'], ...because('no-tls', {}) },
  );

/** The queue that an API or worker of its own uses unless it is told another. */
export const LOCAL_REDIS = 'redis://127.0.0.1:6379';
export const DEFAULT_SHARED_DIR = './rule-data';

/** Everything a process can be told from outside, parsed once. Times are milliseconds, sizes bytes. */
export type Settings = z.output<typeof settingsSchema>;

/** A setting that cannot be used, named, so that the start stops instead of guessing. */
export class BadSettings extends Error {}

/** What the start stops with because of these problems. */
export const badSettings = (problems: readonly Problem[]) =>
  new BadSettings(`Settings that cannot be used: ${problemLines(problems)}.`);

type Environment = Record<string, string | undefined>;

/** An environment without the space around values, such as the newline at the end of a secret's file; an empty one counts as not given. */
export function givenIn(environment: Environment): Environment {
  const trimmed = Object.entries(environment).map(([name, value = '']) => [name, value.trim()] as const);
  return Object.fromEntries(trimmed.filter(([, value]) => value !== ''));
}

/** Reads the settings of an environment. Throws `BadSettings` naming every bad one. */
export function readSettings(environment: Environment): Settings {
  const parsed = settingsSchema.safeParse(givenIn(environment));
  if (parsed.success) return parsed.data;
  throw badSettings(problemsOf(parsed.error.issues));
}

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(variables.shape);

/** Variables that are no settings, but nearly: a setting that is misspelt would be ignored. `main.ts` warns of them in the log and goes on. */
export function misspeltSettings(environment: Environment): { name: string; meant: string }[] {
  const known = settingNames;
  const meant = (name: string) =>
    known.find((setting) => setting.startsWith(`${name}_`) || (name.length > 5 && isOneSlipAway(name, setting)));
  return Object.keys(environment).flatMap((name) => {
    const setting = known.includes(name) || !name.includes('_') ? undefined : meant(name);
    return setting === undefined ? [] : [{ name, meant: setting }];
  });
}

/** The Redis to use, or undefined for the embedded queue. `QUEUE_URL` wins over `REDIS_URL`. */
export function queueUrlOf({ QUEUE_URL, REDIS_URL }: Settings): string | undefined {
  return QUEUE_URL ?? REDIS_URL;
}

/** How much a key may do at once unless its entry in the keys file says otherwise. */
export function keyLimitsOf(settings: Settings) {
  const { KEY_CALLS_PER_SECOND, KEY_OPEN_CALLS, KEY_STREAMS, KEY_BATCHES } = settings;
  return {
    callsPerSecond: KEY_CALLS_PER_SECOND,
    openCalls: KEY_OPEN_CALLS,
    streams: KEY_STREAMS,
    batches: KEY_BATCHES,
  };
}

const LOOPBACK = /^(localhost|::1|127(\.\d{1,3}){3})$/;

/** Whether other machines can reach what listens here. */
export function isReachable({ HOST }: Pick<Settings, 'HOST'>): boolean {
  return !LOOPBACK.test(HOST);
}

/** Whether a caller needs a key, or a proxy that names it. */
export function needsKeys({
  API_KEYS,
  API_KEYS_FILE,
  TRUSTED_USER_HEADER,
}: Pick<Settings, 'API_KEYS' | 'API_KEYS_FILE' | 'TRUSTED_USER_HEADER'>): boolean {
  return API_KEYS.size > 0 || API_KEYS_FILE !== undefined || TRUSTED_USER_HEADER !== undefined;
}

/** Refuses to serve callers without a key to a whole network, unless that is wanted. Throws `BadSettings`. */
export function refuseOpenDoor(settings: Settings): void {
  if (!isReachable(settings) || needsKeys(settings) || settings.ALLOW_ANONYMOUS === '1') return;
  throw new BadSettings(
    `Anybody who reaches ${settings.HOST} could run rules: set API_KEYS or API_KEYS_FILE, set HOST=127.0.0.1, or say ALLOW_ANONYMOUS=1 if that is wanted.`,
  );
}

/** How much of the past is kept. */
export function historyLimitsOf({ HISTORY_COUNT, HISTORY_SECONDS, HISTORY_BYTES }: Settings) {
  return { count: HISTORY_COUNT, seconds: HISTORY_SECONDS, bytes: HISTORY_BYTES };
}

/** How many batches there may be, for how long. */
export function batchLimitsOf({ BATCH_SECONDS, BATCH_BYTES, MAX_BATCHES }: Settings) {
  return { seconds: BATCH_SECONDS, bytes: BATCH_BYTES, running: MAX_BATCHES };
}

/** How long an API waits for the end of one execution: time in the queue, the client's time, and slack for noticing. */
export function apiWaitMs({
  QUEUE_TIMEOUT_MS,
  RESULT_TIMEOUT_MS,
}: Pick<Settings, 'QUEUE_TIMEOUT_MS' | 'RESULT_TIMEOUT_MS'>): number {
  return QUEUE_TIMEOUT_MS + RESULT_TIMEOUT_MS + 10_000;
}
