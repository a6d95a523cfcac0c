import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Scope } from '../../shared/contract/determined-id.ts';
import { answered, type Ending, type ReadResult, unanswered } from '../../shared/contract/endings/ending.ts';
import { noAnswerSchema } from '../../shared/contract/endings/no-answer.ts';
import { type ExecutionRecord, wasNeverDispatched } from '../../shared/contract/execution-record.ts';
import type { Once } from '../../shared/contract/job.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { time } from '../../shared/ports/time.ts';
import { type IdempotencyRecords, KEY_SECONDS } from '../../shared/store/idempotency/idempotency-records.ts';
import { unlessNewer } from '../executions/read-jobs.ts';

const ATTEMPTS = 5;

/** An ending without an answer, kept inside the idempotency record. An answer is kept beside it. */
const keptEndingSchema = z.object({
  kind: z.literal('unanswered'),
  mockId: z.string(),
  noAnswer: noAnswerSchema,
});

/** The idempotency record of a call. */
const recordSchema = z.object({
  mockId: z.string(),
  digest: z.string(),
  at: z.int(),
  /** The same as in its job, epoch ms: a worker that fences it finds the place of its claim by that. */
  claimBy: z.int(),
  ending: keptEndingSchema.optional().catch(undefined),
  /** The client that answered; the answer is kept beside the record for as long as there is room. */
  answeredBy: z.string().optional(),
});
type IdempotencyRecord = z.infer<typeof recordSchema>;

/** A record and the text it is kept as. */
export type KeptRecord = { record: IdempotencyRecord; text: string };

/** A call as it is remembered. `mockId`: its id where that of its key is used up. */
export type KeyedCall = { mockId: string; claimBy: number; once: Once };

/**
 * `first`: this call runs it, under this id. `again`: the same call was made before. `ended`: and this is how it ended; `answer-gone`: it
 * was answered, and the answer is no longer kept. `other-body`: the key is taken by another call. `full`: no more keys can
 * be remembered.
 */
type Remembered =
  | { kind: 'first'; mockId: string }
  | { kind: 'again'; kept: KeptRecord }
  | { kind: 'ended'; mockId: string; ending: Ending<ReadResult> }
  | { kind: 'answer-gone'; mockId: string; address: string }
  | { kind: 'other-body' }
  | { kind: 'full' };

type IdempotencyDependencies = {
  records: IdempotencyRecords;
  find: (mockId: string) => Promise<ExecutionRecord | null>;
  /** Whether answers of an app are not kept. */
  keepsNothing: (app: number) => boolean;
};

/** How the execution of a key ended. */
type Ended = { app: number; mockId: string; ending: Ending<ReadResult> };

export type Idempotency = ReturnType<typeof createIdempotency>;

/** Remembers calls by their Idempotency-Key for 24 h. */
export function createIdempotency({ records, find, keepsNothing }: IdempotencyDependencies) {
  /** Whichever call comes first, on whichever API, is the one that runs. An execution of the key whose record is lost is joined. */
  async function remember(scope: Scope, call: KeyedCall): Promise<Remembered> {
    const key = storeKey(scope);
    const { known, ...id } = await idOf(call, find);
    const own = recordOf({ ...call, ...id });
    if (known && known.digest !== own.digest) return { kind: 'other-body' };
    const kept = await putOrRead(key, own, { records, find });
    if (kept === 'full') return { kind: 'full' };
    if (kept === 'put') return known ? { kind: 'again', kept: keptAs(own) } : { kind: 'first', ...id };
    const { mockId, digest, ending, answeredBy } = kept.record;
    if (digest !== own.digest) return { kind: 'other-body' };
    if (ending) return { kind: 'ended', mockId, ending: unanswered(ending.noAnswer) };
    if (answeredBy === undefined) return { kind: 'again', kept };
    const body = await records.answer(key);
    if (body === null) return { kind: 'answer-gone', mockId, address: answeredBy };
    return { kind: 'ended', mockId, ending: answered({ address: answeredBy, body }) };
  }

  async function read(key: string): Promise<KeptRecord | null> {
    const text = await records.get(key);
    const record = recordSchema.safeParse(parseJson(text ?? ''));
    return text !== null && record.success ? { record: record.data, text } : null;
  }

  /** Keeps how the execution of a key ended, unless the key stands for another one by now. */
  async function keepAt(key: string, { app, mockId, ending }: Ended): Promise<void> {
    const kept = await read(key);
    if (kept?.record.mockId !== mockId) return;
    const { record, text } = kept;
    if (ending.kind === 'unanswered') {
      await records.change(key, text, JSON.stringify({ ...record, ending: { ...ending, mockId } }));
    } else {
      const answer = keepsNothing(app) ? {} : { answer: ending.result.body };
      await records.change(key, text, JSON.stringify({ ...record, answeredBy: ending.result.address }), answer);
    }
  }

  return {
    remember,
    readAt: read,
    /** Whether there is a record under a key. Writes nothing. */
    hasRecord: async (scope: Scope): Promise<boolean> => (await records.get(storeKey(scope))) !== null,
    keepAt,
    /** The execution a key stands for. */
    current: async (scope: Scope) => (await read(storeKey(scope)))?.record.mockId ?? null,
    /** Keeps how a call ended with its key, so that it outlives the history. */
    keep: (scope: Scope, mockId: string, ending: Ending<ReadResult>) =>
      keepAt(storeKey(scope), { app: scope.app, mockId, ending }),
    /** Lets a key stand for another call; false when its record has changed meanwhile. */
    replace: (scope: Scope, { text }: KeptRecord, call: KeyedCall) =>
      records.change(storeKey(scope), text, JSON.stringify(recordOf(call)), { dueAt: call.claimBy }),
    /** A call that dispatched nothing may be made again under the same key. */
    async forget(scope: Scope, mockId: string): Promise<void> {
      const kept = await read(storeKey(scope));
      if (kept?.record.mockId === mockId) await records.change(storeKey(scope), kept.text, null);
    },
  };
}

/** Puts a record under a key, or reads the one that is there. The record of a call that was never dispatched is replaced. */
async function putOrRead(
  key: string,
  own: IdempotencyRecord,
  { records, find }: Pick<IdempotencyDependencies, 'records' | 'find'>,
): Promise<KeptRecord | 'put' | 'full'> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const put = await records.put(key, JSON.stringify(own), own.claimBy);
    if (put.kind !== 'there') return put.kind;
    const { text } = put;
    const record = recordSchema.parse(parseJson(text));
    const isOver = record.ending !== undefined || record.answeredBy !== undefined;
    const execution = isOver ? null : await find(record.mockId).catch(unlessNewer);
    if (!execution || !wasNeverDispatched(execution)) return { record, text };
    await records.change(key, text, null);
  }
  throw new Error('the records under one Idempotency-Key keep changing');
}

/**
 * The id of a call, which its key determines; and the execution that is known under it. If that one was never dispatched, or is from an
 * earlier day of the key, it does not count, and the call has the id that it brought.
 */
async function idOf(
  { once, mockId }: KeyedCall,
  find: IdempotencyDependencies['find'],
): Promise<{ mockId: string; known: ExecutionRecord | null }> {
  const known = await find(once.key).catch(unlessNewer);
  if (!known || (!wasNeverDispatched(known) && !isOlderThanKeys(known))) return { mockId: once.key, known };
  return { mockId, known: null };
}

function isOlderThanKeys({ history }: ExecutionRecord): boolean {
  return time.isPast((history[0]?.at ?? 0) + KEY_SECONDS * 1000);
}

const keptAs = (record: IdempotencyRecord): KeptRecord => ({ record, text: JSON.stringify(record) });

function recordOf({ mockId, claimBy, once }: KeyedCall): IdempotencyRecord {
  return { mockId, digest: once.digest, at: time.now(), claimBy };
}

function storeKey({ app, keyName, key }: Scope): string {
  return `idempotency:${createHash('sha256')
    .update(JSON.stringify([app, keyName, key]))
    .digest('hex')}`;
}
