/** How long a call is remembered by its Idempotency-Key. */
export const NOTE_SECONDS = 24 * 3600;
/** The bytes of a note in Redis with its entries in two indexes, and of an answer beside its text; estimates from above. */
export const NOTE_BYTES = 900;
export const ANSWER_BYTES = 600;

/** Whether a note, given as its text, is that of an execution. */
export const isNoteOf = (mockId: string, text: string | null) => text?.includes(`"mockId":"${mockId}"`) === true;

/** How a note was put: it is the first under its key, there is one already, or there is no room for any more. */
export type PutNote = { kind: 'put' } | { kind: 'there'; text: string } | { kind: 'full' };

/**
 * Notes of calls under an Idempotency-Key, with the answers they got. Notes are kept for 24 h; answers too, as long as all
 * of them together fit into IDEMPOTENCY_BYTES: the oldest answers are evicted first, and a note is never evicted early.
 */
export type Notes = {
  /** Puts the first note under a key. It is due at `dueAt`, epoch ms, unless it is changed before. */
  put(key: string, text: string, dueAt: number): Promise<PutNote>;
  get(key: string): Promise<string | null>;
  /** Puts `to` in the place of `from`, or removes the note (null); false when the note is another one by now. */
  change(key: string, from: string, to: string | null, more?: { dueAt?: number; answer?: string }): Promise<boolean>;
  /** The answer that was kept with a note, unless it had to leave. */
  answer(key: string): Promise<string | null>;
  /** Forgets the notes of an execution, and its answers with them: their keys may be used anew. */
  erase(mockId: string): Promise<void>;
  /** At most `count` keys of notes that are due. Each is due again `againAfterMs` later. */
  due(count: number, againAfterMs: number): Promise<string[]>;
};
