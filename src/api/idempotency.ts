import { createHash } from 'node:crypto';
import { z } from 'zod';
import { parseJson } from '../shared/parse-json.ts';
import type { Store } from '../shared/store.ts';

const KEPT_SECONDS = 24 * 3600;

const noteSchema = z.object({ mockId: z.string(), digest: z.string() });

/** `first`: this call runs it. `again`: the same call was made before, under that id. `other-body`: the key is taken by another call. */
export type Remembered = { kind: 'first' } | { kind: 'again'; mockId: string } | { kind: 'other-body' };

type Call = { app: number; keyName: string | null; key: string; body: Uint8Array; mockId: string };

/** Remembers calls by their Idempotency-Key for 24 h; a key belongs to one app and one API key. */
export function createIdempotency(store: Store) {
  const noteKey = ({ app, keyName, key }: Omit<Call, 'body' | 'mockId'>) =>
    `idempotency:${sha256(JSON.stringify([app, keyName, key]))}`;

  return {
    /** Whichever call comes first, on whichever API, is the one that runs. */
    async remember(call: Call): Promise<Remembered> {
      const note = { mockId: call.mockId, digest: sha256(call.body) };
      const kept = noteSchema.parse(parseJson(await store.putOnce(noteKey(call), JSON.stringify(note), KEPT_SECONDS)));
      if (kept.mockId === call.mockId) return { kind: 'first' };
      return kept.digest === note.digest ? { kind: 'again', mockId: kept.mockId } : { kind: 'other-body' };
    },
    /** A call that dispatched nothing may be made again under the same key. */
    forget: (call: Omit<Call, 'body' | 'mockId'>) => store.forget(noteKey(call)),
  };
}

function sha256(data: string | Uint8Array): string {
  return createHash('sha256').update(data).digest('hex');
}
