import { z } from 'zod';

const milliseconds = (fallback: number, { min = 1, max = 3_600_000 } = {}) => whole(fallback, min, max);

function whole(fallback: number, min: number, max: number) {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(fallback);
}

const port = (fallback: number) => whole(fallback, 0, 65_535);
const MIB = 1024 * 1024;

const queueUrl = z
  .string()
  .refine(
    (text) => URL.canParse(text) && ['redis:', 'rediss:'].includes(new URL(text).protocol),
    'must be a redis:// or rediss:// URL',
  )
  .optional();

const apiKeys = z
  .string()
  .default('')
  .transform((text, context) => {
    const keys = new Map<string, string>();
    for (const pair of text.split(',').filter((part) => part.trim() !== '')) {
      const [name = '', key = ''] = [pair.slice(0, pair.indexOf(':')).trim(), pair.slice(pair.indexOf(':') + 1).trim()];
      if (!pair.includes(':') || !/^[\w.-]{1,64}$/.test(name) || key.length < 16 || keys.has(name)) {
        context.addIssue({
          code: 'custom',
          message: 'must be name:key,… with distinct names and keys of at least 16 characters',
        });
        return z.NEVER;
      }
      keys.set(name, key);
    }
    return keys;
  });

const corsOrigins = z
  .string()
  .default('')
  .transform((text) => text.split(',').flatMap((part) => part.trim() || []))
  .refine(
    (origins) => origins.every(isOrigin),
    'must be origins such as https://rules.example.com, separated by commas',
  );

function isOrigin(text: string): boolean {
  return URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text;
}

const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

const settingsSchema = z.object({
  QUEUE_URL: queueUrl,
  REDIS_URL: queueUrl,
  SHARED_DIR: z.string().min(1).optional(),
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port(8080),
  WORKER_PORT: port(0),
  // Claims and files are kept for 10 minutes: a wait must end before they are swept away under it.
  RESULT_TIMEOUT_MS: milliseconds(60_000, { min: 100, max: 540_000 }),
  POLL_INTERVAL_MS: milliseconds(1000, { min: 20, max: 60_000 }),
  CLIENT_TIMEOUT_MS: milliseconds(30_000, { min: 100 }),
  QUEUE_TIMEOUT_MS: milliseconds(10_000, { min: 100 }),
  SHUTDOWN_GRACE_MS: milliseconds(75_000),
  WORKER_CONCURRENCY: whole(2000, 1, 100_000),
  MAX_QUEUED: whole(10_000, 1, 1_000_000),
  MAX_WAITS_PER_CLIENT: whole(500, 1, 100_000),
  MAX_BODY_BYTES: whole(MIB, 1024, 64 * MIB),
  MAX_RESULT_BYTES: whole(8 * MIB, 1024, 256 * MIB),
  HISTORY_COUNT: whole(10_000, 0, 1_000_000),
  HISTORY_SECONDS: whole(86_400, 60, 31_536_000),
  HISTORY_BYTES: whole(256 * MIB, 0, 64 * 1024 * MIB),
  IDEMPOTENCY_BYTES: whole(256 * MIB, 1024, 64 * 1024 * MIB),
  API_KEYS: apiKeys,
  CORS_ORIGINS: corsOrigins,
  ICE_ENDPOINTS: z
    .enum(['0', '1'], { error: 'must be 0 or 1' })
    .default('0')
    .transform((given) => given === '1'),
  LOG_LEVEL: z.enum(LOG_LEVELS, { error: `must be one of ${LOG_LEVELS.join(', ')}` }).default('info'),
  OTEL_EXPORTER_OTLP_ENDPOINT: z.url({ protocol: /^https?$/, error: 'must be an http:// or https:// URL' }).optional(),
});

/** Where APIs and workers of their own look for the queue when nothing is said. */
export const LOCAL_REDIS = 'redis://127.0.0.1:6379';
export const DEFAULT_SHARED_DIR = './rule-data';

/** Everything a process can be told from outside, parsed once. Times are milliseconds, sizes bytes. */
export type Settings = z.output<typeof settingsSchema>;

/** A setting that cannot be used, named, so that the start stops instead of guessing. */
export class BadSettings extends Error {}

/** Reads the settings of an environment. An empty variable counts as not given. Throws `BadSettings` naming every bad one. */
export function readSettings(environment: Record<string, string | undefined>): Settings {
  const given = Object.fromEntries(
    Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = settingsSchema.safeParse(given);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')} ${message}`);
  throw new BadSettings(`Settings that cannot be used: ${problems.join('; ')}.`);
}

/** The Redis to use, or undefined for the embedded queue. `QUEUE_URL` wins over `REDIS_URL`. */
export function queueUrlOf({ QUEUE_URL, REDIS_URL }: Settings): string | undefined {
  return QUEUE_URL ?? REDIS_URL;
}

/** How much of the past is kept. */
export function historyLimitsOf({ HISTORY_COUNT, HISTORY_SECONDS, HISTORY_BYTES }: Settings) {
  return { count: HISTORY_COUNT, seconds: HISTORY_SECONDS, bytes: HISTORY_BYTES };
}

/** How long an API waits for the end of one execution: time in the queue, the client's time, and slack for noticing. */
export function apiWaitMs({
  QUEUE_TIMEOUT_MS,
  RESULT_TIMEOUT_MS,
}: Pick<Settings, 'QUEUE_TIMEOUT_MS' | 'RESULT_TIMEOUT_MS'>): number {
  return QUEUE_TIMEOUT_MS + RESULT_TIMEOUT_MS + 10_000;
}
