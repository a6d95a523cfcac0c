import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { time } from '../../../ports/time.ts';
import {
  ANSWER_BYTES,
  type IdempotencyRecords,
  isRecordOf,
  KEY_SECONDS,
  RECORD_BYTES,
} from '../../idempotency/idempotency-records.ts';
import type { Table } from './tables.ts';

const recordSchema = z.object({
  text: z.string(),
  expiresAt: z.int(),
  dueAt: z.int().nullable(),
  /** The bytes of its answer; 0 without one. */
  answerBytes: z.int(),
});
type IdempotencyRecord = z.infer<typeof recordSchema>;

const answerOf = (key: string) => `${key}:answer`;

export function recordEntry(key: string, text: string, dueAt: number | null) {
  const record: IdempotencyRecord = { text, expiresAt: time.now() + KEY_SECONDS * 1000, dueAt, answerBytes: 0 };
  return { record, entry: { key, info: JSON.stringify(record) } };
}

/** The records in insertion order, oldest first. */
function openIndex(maxBytes: number, table: Table) {
  const records = new Map<string, IdempotencyRecord>();
  let answerBytes = 0;
  for (const { key, info } of table.load()) {
    const { data } = recordSchema.safeParse(parseJson(info));
    if (data) records.set(key, data);
    answerBytes += data?.answerBytes ?? 0;
  }

  function setAnswerBytes(record: IdempotencyRecord, bytes: number): void {
    answerBytes += bytes - record.answerBytes;
    record.answerBytes = bytes;
  }
  function remove(key: string, record: IdempotencyRecord): Promise<void> {
    setAnswerBytes(record, 0);
    records.delete(key);
    return table.remove([key, answerOf(key)]);
  }

  return {
    ...{ records, setAnswerBytes, remove },
    async purge(): Promise<void> {
      for (const [key, record] of records) {
        if (record.expiresAt > time.now()) return;
        await remove(key, record);
      }
    },
    /** Evicts the oldest answers until `wanted` bytes fit. `left`: the evicted ones. */
    makeRoom(wanted: number): { fits: boolean; left: string[] } {
      const fits = () => records.size * RECORD_BYTES + answerBytes + wanted <= maxBytes;
      const left: string[] = [];
      for (const [key, record] of records) {
        if (fits() || records.size * RECORD_BYTES + wanted > maxBytes) break;
        if (record.answerBytes > 0) left.push(answerOf(key));
        setAnswerBytes(record, 0);
      }
      return { fits: fits(), left };
    },
  };
}

/** The embedded idempotency records: texts in memory, answers in the table. */
export function createEmbeddedIdempotencyRecords(maxBytes: number, table: Table): IdempotencyRecords {
  const { records, setAnswerBytes, remove, purge, makeRoom } = openIndex(maxBytes, table);

  async function putChanged(key: string, record: IdempotencyRecord, answer: string | undefined): Promise<void> {
    const room = answer === undefined ? { fits: false, left: [] } : makeRoom(answer.length + ANSWER_BYTES);
    const text = room.fits ? answer : undefined;
    if (text !== undefined) setAnswerBytes(record, text.length + ANSWER_BYTES);
    const entry = { key, info: JSON.stringify(record) };
    await table.remove(room.left);
    await table.put(text === undefined ? [entry] : [entry, { key: answerOf(key), text }]);
  }

  return {
    async put(key, text, dueAt) {
      await purge();
      const there = records.get(key);
      if (there) return table.sure({ kind: 'there', text: there.text });
      const { fits, left } = makeRoom(RECORD_BYTES);
      const { record, entry } = recordEntry(key, text, dueAt);
      if (fits) records.set(key, record);
      await table.remove(left);
      if (!fits) return { kind: 'full' };
      await table.put([entry]);
      return { kind: 'put' };
    },
    get: (key) => table.sure(records.get(key)?.text ?? null),
    async change(key, from, to, { dueAt, answer } = {}) {
      const record = records.get(key);
      if (record?.text !== from) return false;
      if (to === null) await remove(key, record);
      else {
        record.text = to;
        record.dueAt = dueAt ?? null;
        await putChanged(key, record, answer);
      }
      return true;
    },
    async erase(mockId) {
      for (const [key, record] of records) if (isRecordOf(mockId, record.text)) await remove(key, record);
    },
    answer: (key) => table.read(answerOf(key)),
    async due(count, againAfterMs) {
      await purge();
      const now = time.now();
      const due = [...records].filter(([, { dueAt }]) => dueAt !== null && dueAt <= now).slice(0, count);
      for (const [, record] of due) record.dueAt = now + againAfterMs;
      return due.map(([key]) => key);
    },
  };
}
