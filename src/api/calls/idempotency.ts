import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type ExecutionRecord, wasNeverDispatched } from '../../shared/contract/execution-record.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { INLINE_BYTES, type Store } from '../../shared/store/key-value-store.ts';
import { unlessNewer } from '../executions/newer-execution.ts';
import { type Ending, endingSchema } from './ending.ts';

const KEPT_SECONDS = 24 * 3600;
const ATTEMPTS = 5;

const noteSchema = z.object({
  mockId: z.string(),
  digest: z.string(),
  at: z.int(),
  /** How it ended, unless that is a large text: then it is known as long as the history knows it. */
  ending: endingSchema.optional().catch(undefined),
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
  | { kind: 'ended'; ending: Ending }
  | { kind: 'other-body' };

type Dependencies = { store: Store; find: (mockId: string) => Promise<ExecutionRecord | null> };

/** Remembers calls by their Idempotency-Key for 24 h. */
export function createIdempotency({ store, find }: Dependencies) {
  async function remember(scope: Scope, call: { mockId: string; body: Uint8Array }): Promise<Remembered> {
    const own: Note = { mockId: call.mockId, digest: sha256(call.body), at: Date.now() };
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const text = await store.putOnce(storeKey(scope), JSON.stringify(own), KEPT_SECONDS);
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
      return ending ? { kind: 'ended', ending } : { kind: 'again', mockId, at };
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
    async keep(scope: Scope, ending: Ending): Promise<void> {
      if (ending.kind === 'answered' && Buffer.byteLength(ending.body) > INLINE_BYTES) return;
      await changeNote(scope, ending.mockId, (note) => ({ ...note, ending }));
    },
    /** A call that dispatched nothing may be made again under the same key. */
    forget: (scope: Scope, mockId: string) => changeNote(scope, mockId, () => null),
  };
}

function storeKey({ app, keyName, key }: Scope): string {
  return `idempotency:${sha256(JSON.stringify([app, keyName, key]))}`;
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
