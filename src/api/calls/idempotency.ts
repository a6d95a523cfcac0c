import { createHash } from 'node:crypto';
import { z } from 'zod';
import { answered, type Ending, type ReadResult, unanswered } from '../../shared/contract/ending.ts';
import { type ExecutionRecord, wasNeverDispatched } from '../../shared/contract/execution-record.ts';
import { noAnswerSchema } from '../../shared/contract/outcomes.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { INLINE_BYTES, type Store } from '../../shared/store/key-value-store.ts';
import { unlessNewer } from '../executions/newer-execution.ts';

const KEPT_SECONDS = 24 * 3600;
const ATTEMPTS = 5;

/** An ending as a note keeps it. */
const keptEndingSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), address: z.string(), body: z.string() }),
  z.object({ kind: z.literal('unanswered'), noAnswer: noAnswerSchema }),
]);
type KeptEnding = z.infer<typeof keptEndingSchema> & { mockId: string };

const noteSchema = z.object({
  mockId: z.string(),
  digest: z.string(),
  at: z.int(),
  /** How it ended, unless that is a large text: then it is known as long as the history knows it. */
  ending: keptEndingSchema
    .and(z.object({ mockId: z.string() }))
    .optional()
    .catch(undefined),
});
type Note = z.infer<typeof noteSchema>;

/** The same key in the same scope is the same call: one app, one API key. */
export type Scope = { app: number; keyName: string | null; key: string };

/**
 * `first`: this call runs it. `again`: the same call was made before, at `at`, under that id. `ended`: and this is how it
 * ended. `other-body`: the key is taken by another call.
 */
export type Remembered =
  | { kind: 'first' }
  | { kind: 'again'; mockId: string; at: number }
  | { kind: 'ended'; mockId: string; ending: Ending<ReadResult> }
  | { kind: 'other-body' };

type Dependencies = { store: Store; find: (mockId: string) => Promise<ExecutionRecord | null> };

/** Remembers calls by their Idempotency-Key for 24 h. */
export function createIdempotency({ store, find }: Dependencies) {
  async function remember(scope: Scope, call: { mockId: string; body: Uint8Array }): Promise<Remembered> {
    const own: Note = { mockId: call.mockId, digest: sha256(call.body), at: Date.now() };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const text = await store.setIfAbsent(storeKey(scope), JSON.stringify(own), KEPT_SECONDS);
      const note = noteSchema.parse(parseJson(text));
      const { mockId, digest, at, ending } = note;
      if (mockId === own.mockId) return { kind: 'first' };
      // What was never dispatched is not kept. Only looked at here, so that it does not matter who is left to forget it.
      const record = ending ? null : await find(mockId).catch(unlessNewer);
      if (record && wasNeverDispatched(record)) {
        await store.change(storeKey(scope), text, null);
        continue;
      }
      if (digest !== own.digest) return { kind: 'other-body' };
      return ending ? { kind: 'ended', mockId, ending: fromKept(ending) } : { kind: 'again', mockId, at };
    }
    throw new Error('the notes under one Idempotency-Key keep changing');
  }

  async function changeNote(scope: Scope, mockId: string, change: (note: Note) => Note | null): Promise<void> {
    const text = await store.get(storeKey(scope));
    const note = noteSchema.safeParse(parseJson(text ?? ''));
    if (text === null || !note.success || note.data.mockId !== mockId) return;
    const changed = change(note.data);
    await store.change(storeKey(scope), text, changed && JSON.stringify(changed));
  }

  return {
    /** Whichever call comes first, on whichever API, is the one that runs. */
    remember,
    /** Keeps how a call ended with its key, so that it outlives the history. */
    async keep(scope: Scope, mockId: string, ending: Ending<ReadResult>): Promise<void> {
      if (ending.kind === 'answered' && Buffer.byteLength(ending.result.body) > INLINE_BYTES) return;
      await changeNote(scope, mockId, (note) => ({ ...note, ending: toKept(mockId, ending) }));
    },
    /** A call that dispatched nothing may be made again under the same key. */
    forget: (scope: Scope, mockId: string) => changeNote(scope, mockId, () => null),
  };
}

function toKept(mockId: string, ending: Ending<ReadResult>): KeptEnding {
  if (ending.kind === 'unanswered') return { ...ending, mockId };
  const { address, body } = ending.result;
  return { kind: 'answered', mockId, address, body };
}

function fromKept(kept: KeptEnding): Ending<ReadResult> {
  return kept.kind === 'answered' ? answered({ address: kept.address, body: kept.body }) : unanswered(kept.noAnswer);
}

function storeKey({ app, keyName, key }: Scope): string {
  return `idempotency:${sha256(JSON.stringify([app, keyName, key]))}`;
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
