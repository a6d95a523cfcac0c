import { z } from 'zod';
import { unanswered } from '../../../contract/endings/ending.ts';
import { sentences } from '../../../contract/endings/sentences.ts';
import { toSettled } from '../../../contract/execution-record.ts';
import { jobHeadSchema } from '../../../contract/job.ts';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { historyEntries } from '../stores/history.ts';
import { noteEntry } from '../stores/notes.ts';
import type { Entry, OpenShelf, Shelf, ShelfName } from '../stores/shelf.ts';
import type { Ledger } from './ledger.ts';

const AT_ONCE = 500;
const noteSchema = z.looseObject({ mockId: z.string() });
/** A note whose call had no ending. */
const openNoteSchema = noteSchema.extend({ ending: z.undefined().optional(), answeredBy: z.undefined().optional() });
const keptNoteSchema = z.object({ text: z.string() });

/**
 * Puts what the ledger names and a store does not know as `outcome-unknown` into it: what was lost makes nothing run again. Resolves to how
 * many executions.
 */
export async function keepAsUnknown(ledger: Ledger, openShelf: OpenShelf): Promise<number> {
  const names = ['history', 'history_of_batches'] as const;
  const known = new Set(
    names.flatMap((name) =>
      openShelf(name)
        .load()
        .map(({ key }) => key),
    ),
  );
  const executions = new Map<string, { name: ShelfName; entries: Entry[] }>();
  const notes = new Map<string, Entry[]>();
  for (const line of ledger.read()) {
    if ('key' in line) notes.set(line.key, line.note === null ? [] : entriesOfNote(line.key, line.note));
    else if (!known.has(line.execution)) {
      const settled = unknownOf(line.execution, line.head, line.at);
      if (settled) executions.set(line.execution, settled);
    }
  }
  for (const name of names) {
    const own = [...executions.values()].filter((each) => each.name === name);
    await putAll(
      openShelf(name),
      own.flatMap(({ entries }) => entries),
    );
  }
  const noted = new Set(
    openShelf('notes')
      .load()
      .map(({ key }) => key),
  );
  await putAll(
    openShelf('notes'),
    [...notes].flatMap(([key, entries]) => (noted.has(key) ? [] : entries)),
  );
  return executions.size;
}

async function putAll(shelf: Shelf, entries: readonly Entry[]): Promise<void> {
  for (let first = 0; first < entries.length; first += AT_ONCE) await shelf.put(entries.slice(first, first + AT_ONCE));
}

/** An execution of which nobody can say how it ended, as its history keeps it; undefined when nothing is known of it. */
export function unknownOf(
  mockId: string,
  head: unknown,
  at: number,
): { name: ShelfName; entries: Entry[] } | undefined {
  const { data } = jobHeadSchema.safeParse(head);
  if (!data) return undefined;
  const { record, result } = toSettled(
    { mockId, data: { ...data, input: '' }, queuedAt: at },
    unanswered(sentences.storeLost(mockId)),
    at,
  );
  const body = 'body' in result ? result.body : '';
  const { entries } = historyEntries(record, { input: '', body, at });
  return { name: record.batchId === null ? 'history' : 'history_of_batches', entries };
}

function entriesOfNote(key: string, text: string): Entry[] {
  const { data: note } = noteSchema.safeParse(parseJson(text));
  return note ? [noteEntry(key, withUnknownEnding(note), null).entry] : [];
}

function withUnknownEnding(note: z.infer<typeof noteSchema>): string {
  const { mockId } = note;
  return JSON.stringify({ ...note, ending: { ...unanswered(sentences.storeLost(mockId)), mockId } });
}

/** The note of a call that had not ended, as `outcome-unknown`; null for one that had. */
export function endedNote(text: string): string | null {
  const { data: note } = openNoteSchema.safeParse(parseJson(text));
  return note ? withUnknownEnding(note) : null;
}

/** Ends the calls that stand under a key on a shelf of notes and had not ended: nobody knows how they ended. Resolves to how many. */
export async function endNotes(shelf: Shelf): Promise<number> {
  const open = shelf.load().flatMap(({ key, info }) => {
    const { data: kept } = keptNoteSchema.safeParse(parseJson(info));
    return kept && openNoteSchema.safeParse(parseJson(kept.text)).success ? entriesOfNote(key, kept.text) : [];
  });
  await putAll(shelf, open);
  return open.length;
}
