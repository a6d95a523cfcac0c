import type { Redis } from 'ioredis';
import { z } from 'zod';
import {
  type BatchState,
  batchSchema,
  type Counts,
  itemDetailSchema,
  itemHeadSchema,
  noCounts,
  skipReasonSchema,
} from '../../cases/batch.ts';
import { caseSchema } from '../../cases/case.ts';
import { batchStateSchema } from '../../contract/batches.ts';
import { parseJson } from '../../contract/json/parse-json.ts';
import { verdicts } from '../../contract/verdict.ts';
import type { SkipReason } from '../../reasons/remarks.ts';
import { KEY_SECONDS } from '../idempotency/idempotency-records.ts';
import { type BatchLimits, type BatchStore, chunksOf, erasedHead, SLOT_MS, sizeOf, WANTED_MS } from './batch-store.ts';
import { acquire, begin, change, create, renew, settle } from './redis-batch-scripts.ts';

/** How long an expired batch is still known to have existed. */
const KNOWN_FACTOR = 4;

const casesSchema = z.array(caseSchema);
const OVER: readonly BatchState[] = ['cancelled', 'finished'];

type Part = 'batch' | 'state' | 'cases' | 'sent' | 'heads' | 'details';
type KeyOf = (batchId: string, part: Part) => string;

function keysOf(prefix: string) {
  const key: KeyOf = (batchId, part) => `${prefix}${batchId}:${part}`;
  const [index, isRunning, sizes, total] = [`${prefix}index`, `${prefix}running`, `${prefix}sizes`, `${prefix}bytes`];
  const turns = (client: string) => ['open', 'wanted', 'limits', 'served'].map((kind) => `${prefix}${kind}:${client}`);
  return { key, index, isRunning, total, shared: [index, isRunning, sizes, total], turns };
}

/** Batches in Redis, shared by all APIs and workers. Keys carry one hash tag: one slot of a cluster. */
export function createRedisBatches(
  redis: Redis,
  deployment: string,
  { seconds, bytes, running }: BatchLimits,
): BatchStore {
  const prefix = `${deployment}:batch:`;
  const { key, index, isRunning, total, shared, turns } = keysOf(prefix);

  return {
    async create(batch, cases, maxOfKey = Number.MAX_SAFE_INTEGER) {
      const chunks = chunksOf(cases);
      const knownSeconds = Math.max(seconds * KNOWN_FACTOR, KEY_SECONDS);
      const limits = [Date.now(), seconds, bytes, running, sizeOf(batch, chunks), knownSeconds];
      const ofKey = [batch.keyName ?? '', maxOfKey];
      const texts = [JSON.stringify(batch), ...chunks];
      const said = await create(redis, shared, [prefix, batch.batchId, ...limits, ...ofKey, ...texts]);
      return z.enum(['created', 'no-room', 'too-many', 'too-many-of-key']).parse(said);
    },
    read: (batchId) => read(redis, prefix, batchId),
    list: () => redis.zrevrange(index, 0, -1),
    running: () => redis.smembers(isRunning),
    async cases(batchId, chunk) {
      return casesSchema.parse(parseJson((await redis.hget(key(batchId, 'cases'), String(chunk))) ?? '[]'));
    },
    async begin(batchId, n, claimBy) {
      return toTime(await begin(redis, [key(batchId, 'sent'), key(batchId, 'heads')], [n, claimBy]));
    },
    async settle(batchId, { n, targetIndex, head, detail, unlessBegun }) {
      const texts = [JSON.stringify(head), detail ? JSON.stringify(detail) : '', `${targetIndex}:${head.verdict}`];
      // All keys are declared, so that a Cluster that moves the slot refuses the whole script and not its second half.
      const keys = [...shared, ...(['batch', 'heads', 'state', 'sent'] as const).map((part) => key(batchId, part))];
      const more = [Date.now(), seconds, bytes, unlessBegun ? '1' : ''];
      return (await settle(redis, keys, [prefix, batchId, n, ...texts, ...more])) === 1;
    },
    async heads(batchId, first, last) {
      if (last < first) return [];
      const fields = Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
      const [heads, sent] = await Promise.all([
        redis.hmget(key(batchId, 'heads'), ...fields),
        redis.hmget(key(batchId, 'sent'), ...fields),
      ]);
      return heads.map((text, index) => {
        const claimBy = sent[index] ? Number(sent[index]) : null;
        return itemHeadSchema.parse(text ? parseJson(text) : { verdict: 'pending', claimBy });
      });
    },
    async detail(batchId, n) {
      const text = await redis.hget(key(batchId, 'details'), String(n));
      return text === null ? null : itemDetailSchema.parse(parseJson(text));
    },
    async erase(batchId, { n, chunk, cases }) {
      const text = await redis.hget(key(batchId, 'heads'), String(n));
      const change = redis.multi().hset(key(batchId, 'cases'), chunk, JSON.stringify(cases));
      if (text !== null) {
        const head = erasedHead(itemHeadSchema.parse(parseJson(text)));
        change.hset(key(batchId, 'heads'), n, JSON.stringify(head));
      }
      await change.hdel(key(batchId, 'details'), String(n)).exec();
    },
    async change(batchId, from, to, why) {
      const parameters = [batchId, to, OVER.includes(to) ? '1' : '0', Date.now(), textOf(why), ...from];
      return (await change(redis, [key(batchId, 'state'), isRunning], parameters)) === 1;
    },
    ...slotsIn(redis, { prefix, turns }),
    bytes: async () => Number((await redis.get(total)) ?? 0),
  };
}

const textOf = (why: SkipReason | undefined): string => (why ? JSON.stringify(why) : '');
const toTime = (noted: unknown): number | null => (noted === null ? null : Number(noted));

function slotsIn(
  redis: Redis,
  { prefix, turns }: { prefix: string; turns: (client: string) => string[] },
): Pick<BatchStore, 'acquire' | 'renew' | 'release'> {
  return {
    async acquire({ client, batchId, mockId, limit }) {
      const parameters = [batchId, mockId, limit, SLOT_MS, WANTED_MS];
      return (await acquire(redis, turns(client), parameters)) === 1;
    },
    async renew(client, mockIds) {
      await renew(redis, [`${prefix}open:${client}`], [SLOT_MS, ...mockIds]);
    },
    async release({ client, mockId }) {
      await redis.zrem(`${prefix}open:${client}`, mockId);
    },
  };
}

async function read(redis: Redis, prefix: string, batchId: string): ReturnType<BatchStore['read']> {
  const key = (part: Part) => `${prefix}${batchId}:${part}`;
  const [text, fields] = await Promise.all([redis.get(key('batch')), redis.hgetall(key('state'))]);
  const batch = batchSchema.safeParse(text === null ? null : parseJson(text));
  if (!batch.success) return (await redis.exists(`${prefix}known:${batchId}`)) === 1 ? 'gone' : null;
  const { targets, cases } = batch.data;
  const counts = targets.map((_, index) => countsOf(fields, index, cases));
  const state = batchStateSchema.catch('running').parse(fields.state);
  const endedAt = fields.endedAt === undefined ? null : Number(fields.endedAt);
  const why = skipReasonSchema
    .nullable()
    .catch(null)
    .parse(fields.why === undefined ? null : parseJson(fields.why));
  return { batch: batch.data, progress: { state, endedAt, counts, why } };
}

function countsOf(fields: Record<string, string>, targetIndex: number, cases: number): Counts {
  const counts = noCounts();
  for (const verdict of verdicts) counts[verdict] = Number(fields[`${targetIndex}:${verdict}`] ?? 0);
  const settled = verdicts.reduce((sum, verdict) => sum + (verdict === 'pending' ? 0 : counts[verdict]), 0);
  return { ...counts, pending: cases - settled };
}
