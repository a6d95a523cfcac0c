import { ANSWER_BYTES, isNoteOf, NOTE_BYTES, NOTE_SECONDS, type Notes } from './notes.ts';

type Note = { text: string; expiresAt: number; dueAt: number | null; answer: string | null };

/** Notes of a single process. */
export function createMemoryNotes(maxBytes: number): Notes {
  const notes = new Map<string, Note>(); // in the order in which they were put: the first is the oldest
  let answerBytes = 0;

  const setAnswer = (note: Note, answer: string | null) => {
    answerBytes += sizeOf(answer) - sizeOf(note.answer);
    note.answer = answer;
  };
  const remove = (key: string, note: Note) => {
    setAnswer(note, null);
    notes.delete(key);
  };
  const purge = () => {
    for (const [key, note] of notes) {
      if (note.expiresAt > Date.now()) return;
      remove(key, note);
    }
  };
  /** Lets the oldest answers leave until there is room for so many bytes; false when there cannot be. */
  const makeRoom = (wanted: number): boolean => {
    const fits = () => notes.size * NOTE_BYTES + answerBytes + wanted <= maxBytes;
    for (const note of notes.values()) {
      if (fits() || notes.size * NOTE_BYTES + wanted > maxBytes) break;
      setAnswer(note, null);
    }
    return fits();
  };

  return {
    async put(key, text, dueAt) {
      purge();
      const there = notes.get(key);
      if (there) return { kind: 'there', text: there.text };
      if (!makeRoom(NOTE_BYTES)) return { kind: 'full' };
      notes.set(key, { text, expiresAt: Date.now() + NOTE_SECONDS * 1000, dueAt, answer: null });
      return { kind: 'put' };
    },
    get: async (key) => notes.get(key)?.text ?? null,
    async change(key, from, to, { dueAt, answer } = {}) {
      const note = notes.get(key);
      if (note?.text !== from) return false;
      if (to === null) remove(key, note);
      else {
        note.text = to;
        note.dueAt = dueAt ?? null;
        if (answer !== undefined && makeRoom(sizeOf(answer))) setAnswer(note, answer);
      }
      return true;
    },
    async erase(mockId) {
      for (const [key, note] of notes) if (isNoteOf(mockId, note.text)) remove(key, note);
    },
    answer: async (key) => notes.get(key)?.answer ?? null,
    async due(count, againAfterMs) {
      purge();
      const now = Date.now();
      const due = [...notes].filter(([, { dueAt }]) => dueAt !== null && dueAt <= now).slice(0, count);
      for (const [, note] of due) note.dueAt = now + againAfterMs;
      return due.map(([key]) => key);
    },
  };
}

function sizeOf(answer: string | null): number {
  return answer === null ? 0 : answer.length + ANSWER_BYTES;
}
