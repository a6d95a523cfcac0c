import { z } from 'zod';
import { type ExecutionRecord, recordSchema } from '../../../contract/execution-record.ts';
import { parseJson } from '../../../contract/parse-json.ts';
import { time } from '../../../seams/time.ts';
import {
  type History,
  type HistoryFilter,
  type HistoryLimits,
  type HistoryPage,
  type Indexed,
  listPage,
  MAX_INPUT_KEPT,
  memberOf,
} from '../../history.ts';
import type { Store } from '../../key-value-store.ts';
import type { Entry, Shelf } from './shelf.ts';

const keptSchema = z.object({ record: recordSchema, bytes: z.int(), at: z.int() });
type Kept = z.infer<typeof keptSchema>;

const inputOf = (mockId: string) => `${mockId}:input`;
const resultOf = (mockId: string) => `${mockId}:result`;
const lateOf = (mockId: string) => `${mockId}:late`;

/** How an execution lies on the shelf. Empty texts are none. */
export function historyEntries(
  record: ExecutionRecord,
  { input, body, at }: { input: string; body: string; at: number },
): { kept: Kept; entries: Entry[] } {
  const kept = { record, bytes: body.length + input.length + JSON.stringify(record).length, at };
  const texts = [
    { key: inputOf(record.mockId), text: input },
    { key: resultOf(record.mockId), text: body },
  ];
  const info = { key: record.mockId, info: JSON.stringify(kept) };
  return { kept, entries: [info, ...texts.filter(({ text }) => text !== '')] };
}

/** The records, in order of arrival, so the first is the oldest. */
function openRecords(shelf: Shelf, { count, seconds, bytes }: HistoryLimits) {
  const kept = new Map<string, Kept>();
  let totalBytes = 0;
  let newestFirst: Indexed[] | null = null;

  const set = (entry: Kept) => {
    totalBytes += entry.bytes - (kept.get(entry.record.mockId)?.bytes ?? 0);
    kept.set(entry.record.mockId, entry);
    newestFirst = null;
  };
  const drop = (mockId: string) => {
    totalBytes -= kept.get(mockId)?.bytes ?? 0;
    kept.delete(mockId);
    newestFirst = null;
  };
  const removeTexts = (mockIds: readonly string[]) =>
    shelf.remove(mockIds.flatMap((mockId) => [inputOf(mockId), resultOf(mockId), lateOf(mockId), mockId]));
  for (const { info } of shelf.load()) {
    const { data } = keptSchema.safeParse(parseJson(info));
    if (data) set(data);
  }

  return {
    kept,
    bytes: () => totalBytes,
    /** Made once for all the pages of a search. */
    newestFirst: (): readonly Indexed[] =>
      (newestFirst ??= [...kept.values()].reverse().map(({ record, at }) => ({ member: memberOf(record), at }))),
    set,
    async remove(mockIds: readonly string[]): Promise<void> {
      for (const mockId of mockIds) drop(mockId);
      await removeTexts(mockIds);
    },
    /** Lets the oldest go until all limits are kept, and resolves once their texts are gone. */
    async trim(): Promise<void> {
      const gone: string[] = [];
      for (const [mockId, oldest] of kept) {
        const tooOld = oldest.at + seconds * 1000 < time.now();
        if (!tooOld && kept.size <= count && totalBytes <= bytes) break;
        drop(mockId);
        gone.push(mockId);
      }
      if (gone.length > 0) await removeTexts(gone);
    },
  };
}

type Records = ReturnType<typeof openRecords>;

/** History in this process, for the embedded queue: the records in memory, their texts on the shelf. */
export function createEmbeddedHistory(store: Store, limits: HistoryLimits, shelf: Shelf): History {
  const records = openRecords(shelf, limits);
  const { kept } = records;
  return {
    async add({ record, input, result }) {
      if (kept.has(record.mockId)) return;
      const body = 'body' in result ? result.body : ((await store.get(result.stored)) ?? 'null');
      const keptInput = input.length <= MAX_INPUT_KEPT ? input : '';
      const added = historyEntries(record, { input: keptInput, body, at: time.now() });
      records.set(added.kept);
      await shelf.put(added.entries);
      await records.trim();
    },
    async get(mockId) {
      await records.trim();
      return kept.get(mockId)?.record ?? null;
    },
    result: (mockId) => shelf.read(resultOf(mockId)),
    delivered: async () => {}, // what is trimmed is gone at once: its readers are in this process
    input: (mockId) => shelf.read(inputOf(mockId)),
    async addLateResult(mockId, body) {
      const entry = kept.get(mockId);
      if (!entry || entry.record.lateResult) return;
      const changed = { ...entry, record: { ...entry.record, lateResult: true }, bytes: entry.bytes + body.length };
      records.set(changed);
      await shelf.put([
        { key: mockId, info: JSON.stringify(changed) },
        { key: lateOf(mockId), text: body },
      ]);
      await records.trim();
    },
    erase: (mockId) => records.remove([mockId]),
    lateResult: (mockId) => shelf.read(lateOf(mockId)),
    async list(filter) {
      await records.trim();
      return listKept(records, filter);
    },
    async kept() {
      await records.trim();
      const [oldest] = kept.values();
      return { executions: kept.size, bytes: records.bytes(), oldest: oldest?.at ?? null };
    },
  };
}

function listKept({ kept, newestFirst }: Records, filter: HistoryFilter): Promise<HistoryPage> {
  const members = newestFirst();
  return listPage(
    filter,
    async (after, wanted) => {
      const last = after === null ? -1 : members.findIndex(({ member }) => member === after.member);
      if (last >= 0 || after === null) return members.slice(last + 1, last + 1 + wanted);
      return members.filter(({ at }) => at <= after.at).slice(0, wanted);
    },
    async (mockIds) => mockIds.map((mockId) => kept.get(mockId)?.record ?? null),
  );
}
