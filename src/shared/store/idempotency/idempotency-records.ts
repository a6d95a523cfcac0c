/** How long an Idempotency-Key lasts, of a call or a batch. */
export const KEY_SECONDS = 24 * 3600;
/** Upper bounds of what Redis needs for a record with its two index entries, and for an answer beside its text. */
export const RECORD_BYTES = 900;
export const ANSWER_BYTES = 600;

export const isRecordOf = (mockId: string, text: string | null) => text?.includes(`"mockId":"${mockId}"`) === true;

export type PutRecord = { kind: 'put' } | { kind: 'there'; text: string } | { kind: 'full' };

/**
 * Idempotency records with the answers of their calls. When IDEMPOTENCY_BYTES is reached, the oldest answers are evicted, but never
 * a record within its 24 h: its call would run again.
 */
export type IdempotencyRecords = {
  /** Inserts the record of a key if there is none. It is due at `dueAt`, epoch ms, unless it is changed before. */
  put(key: string, text: string, dueAt: number): Promise<PutRecord>;
  get(key: string): Promise<string | null>;
  /** Compare and set; null removes the record. */
  change(key: string, from: string, to: string | null, more?: { dueAt?: number; answer?: string }): Promise<boolean>;
  /** The answer of the record's call, unless it was evicted. */
  answer(key: string): Promise<string | null>;
  /** Removes the records of an execution with their answers, so that their keys are free. */
  erase(mockId: string): Promise<void>;
  /** At most `count` keys of due records. Each becomes due again after `againAfterMs`, in case its API dies. */
  due(count: number, againAfterMs: number): Promise<string[]>;
};
