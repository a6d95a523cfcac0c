export const NOTE_SECONDS = 24 * 3600;
/** Upper bounds of what Redis needs for a note with its two index entries, and for an answer beside its text. */
export const NOTE_BYTES = 900;
export const ANSWER_BYTES = 600;

export const isNoteOf = (mockId: string, text: string | null) => text?.includes(`"mockId":"${mockId}"`) === true;

export type PutNote = { kind: 'put' } | { kind: 'there'; text: string } | { kind: 'full' };

/**
 * Idempotency records (notes) with the answers of their calls. When IDEMPOTENCY_BYTES is reached, the oldest answers are evicted, but never
 * a note within its 24 h: its call would run again.
 */
export type Notes = {
  /** Inserts the note of a key if there is none. It is due at `dueAt`, epoch ms, unless it is changed before. */
  put(key: string, text: string, dueAt: number): Promise<PutNote>;
  get(key: string): Promise<string | null>;
  /** Compare and set; null removes the note. */
  change(key: string, from: string, to: string | null, more?: { dueAt?: number; answer?: string }): Promise<boolean>;
  /** The answer of the note's call, unless it was evicted. */
  answer(key: string): Promise<string | null>;
  /** Removes the notes of an execution with their answers, so that their keys are free. */
  erase(mockId: string): Promise<void>;
  /** At most `count` keys of due notes. Each becomes due again after `againAfterMs`, in case its API dies. */
  due(count: number, againAfterMs: number): Promise<string[]>;
};
