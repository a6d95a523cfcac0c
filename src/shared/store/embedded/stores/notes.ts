import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { time } from '../../../ports/time.ts';
import { ANSWER_BYTES, isNoteOf, NOTE_BYTES, NOTE_SECONDS, type Notes } from '../../notes/notes.ts';
import type { Table } from './tables.ts';

const noteSchema = z.object({
  text: z.string(),
  expiresAt: z.int(),
  dueAt: z.int().nullable(),
  /** The bytes of its answer; 0 without one. */
  answerBytes: z.int(),
});
type Note = z.infer<typeof noteSchema>;

const answerOf = (key: string) => `${key}:answer`;

export function noteEntry(key: string, text: string, dueAt: number | null) {
  const note: Note = { text, expiresAt: time.now() + NOTE_SECONDS * 1000, dueAt, answerBytes: 0 };
  return { note, entry: { key, info: JSON.stringify(note) } };
}

/** The notes in insertion order, oldest first. */
function openIndex(maxBytes: number, table: Table) {
  const notes = new Map<string, Note>();
  let answerBytes = 0;
  for (const { key, info } of table.load()) {
    const { data } = noteSchema.safeParse(parseJson(info));
    if (data) notes.set(key, data);
    answerBytes += data?.answerBytes ?? 0;
  }

  function setAnswerBytes(note: Note, bytes: number): void {
    answerBytes += bytes - note.answerBytes;
    note.answerBytes = bytes;
  }
  function remove(key: string, note: Note): Promise<void> {
    setAnswerBytes(note, 0);
    notes.delete(key);
    return table.remove([key, answerOf(key)]);
  }

  return {
    ...{ notes, setAnswerBytes, remove },
    async purge(): Promise<void> {
      for (const [key, note] of notes) {
        if (note.expiresAt > time.now()) return;
        await remove(key, note);
      }
    },
    /** Evicts the oldest answers until `wanted` bytes fit. `left`: the evicted ones. */
    makeRoom(wanted: number): { fits: boolean; left: string[] } {
      const fits = () => notes.size * NOTE_BYTES + answerBytes + wanted <= maxBytes;
      const left: string[] = [];
      for (const [key, note] of notes) {
        if (fits() || notes.size * NOTE_BYTES + wanted > maxBytes) break;
        if (note.answerBytes > 0) left.push(answerOf(key));
        setAnswerBytes(note, 0);
      }
      return { fits: fits(), left };
    },
  };
}

/** The embedded idempotency records: texts in memory, answers in the table. */
export function createEmbeddedNotes(maxBytes: number, table: Table): Notes {
  const { notes, setAnswerBytes, remove, purge, makeRoom } = openIndex(maxBytes, table);

  async function putChanged(key: string, note: Note, answer: string | undefined): Promise<void> {
    const room = answer === undefined ? { fits: false, left: [] } : makeRoom(answer.length + ANSWER_BYTES);
    const text = room.fits ? answer : undefined;
    if (text !== undefined) setAnswerBytes(note, text.length + ANSWER_BYTES);
    const entry = { key, info: JSON.stringify(note) };
    await table.remove(room.left);
    await table.put(text === undefined ? [entry] : [entry, { key: answerOf(key), text }]);
  }

  return {
    async put(key, text, dueAt) {
      await purge();
      const there = notes.get(key);
      if (there) return table.sure({ kind: 'there', text: there.text });
      const { fits, left } = makeRoom(NOTE_BYTES);
      const { note, entry } = noteEntry(key, text, dueAt);
      if (fits) notes.set(key, note);
      await table.remove(left);
      if (!fits) return { kind: 'full' };
      await table.put([entry]);
      return { kind: 'put' };
    },
    get: (key) => table.sure(notes.get(key)?.text ?? null),
    async change(key, from, to, { dueAt, answer } = {}) {
      const note = notes.get(key);
      if (note?.text !== from) return false;
      if (to === null) await remove(key, note);
      else {
        note.text = to;
        note.dueAt = dueAt ?? null;
        await putChanged(key, note, answer);
      }
      return true;
    },
    async erase(mockId) {
      for (const [key, note] of notes) if (isNoteOf(mockId, note.text)) await remove(key, note);
    },
    answer: (key) => table.read(answerOf(key)),
    async due(count, againAfterMs) {
      await purge();
      const now = time.now();
      const due = [...notes].filter(([, { dueAt }]) => dueAt !== null && dueAt <= now).slice(0, count);
      for (const [, note] of due) note.dueAt = now + againAfterMs;
      return due.map(([key]) => key);
    },
  };
}
