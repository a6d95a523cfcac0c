import { z } from 'zod';
import { unanswered } from '../../contract/ending.ts';
import { toSettled } from '../../contract/execution-record.ts';
import { jobHeadSchema } from '../../contract/job.ts';
import { parseJson } from '../../contract/parse-json.ts';
import { sentences } from '../../contract/sentences.ts';
import { historyEntries } from '../memory-history.ts';
import { noteEntry } from '../memory-notes.ts';
import type { Entry, Shelf, ShelfName } from '../shelf.ts';
import type { Ledger } from './ledger.ts';

const AT_ONCE = 500;
const noteSchema = z.looseObject({ mockId: z.string() });

/** Puts what the ledger names into a new store as `outcome-unknown`: a lost store makes nothing run again. Resolves to how many. */
export async function keepAsUnknown(ledger: Ledger, shelfOf: (name: ShelfName) => Shelf): Promise<number> {
  const executions = new Map<string, { name: ShelfName; entries: Entry[] }>();
  const notes = new Map<string, Entry[]>();
  for (const line of ledger.read()) {
    if ('key' in line) notes.set(line.key, line.note === null ? [] : entriesOfNote(line.key, line.note));
    else {
      const settled = settledOf(line.execution, line.head, line.at);
      if (settled) executions.set(line.execution, settled);
    }
  }
  for (const name of ['history', 'history_of_batches'] as const) {
    const own = [...executions.values()].filter((each) => each.name === name);
    await putAll(
      shelfOf(name),
      own.flatMap(({ entries }) => entries),
    );
  }
  await putAll(shelfOf('notes'), [...notes.values()].flat());
  return executions.size;
}

async function putAll(shelf: Shelf, entries: readonly Entry[]): Promise<void> {
  for (let first = 0; first < entries.length; first += AT_ONCE) await shelf.put(entries.slice(first, first + AT_ONCE));
}

function settledOf(mockId: string, head: unknown, at: number): { name: ShelfName; entries: Entry[] } | undefined {
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
  if (!note) return [];
  const { mockId } = note;
  const ended = JSON.stringify({ ...note, ending: { ...unanswered(sentences.storeLost(mockId)), mockId } });
  return [noteEntry(key, ended, null).entry];
}
