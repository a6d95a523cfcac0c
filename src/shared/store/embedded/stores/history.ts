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
  /** Made when it is first asked for, and kept as it is from then on. */
  let newestFirst: Indexed[] | null = null;

  const indexed = ({ record, at }: Kept): Indexed => ({ member: memberOf(record), at });
  const set = (entry: Kept) => {
    const before = kept.get(entry.record.mockId);
    totalBytes += entry.bytes - (before?.bytes ?? 0);
    kept.set(entry.record.mockId, entry);
    if (!before) newestFirst?.unshift(indexed(entry));
  };
  const drop = (mockId: string) => {
    const entry = kept.get(mockId);
    if (!entry) return;
    totalBytes -= entry.bytes;
    kept.delete(mockId);
    // The oldest one leaves with almost every one that comes; any other is erased by hand.
    if (newestFirst?.at(-1)?.member === memberOf(entry.record)) newestFirst.pop();
    else newestFirst = null;
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
    newestFirst: (): readonly Indexed[] => (newestFirst ??= [...kept.values()].reverse().map(indexed)),
    set,
    forget: drop,
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
      try {
        await shelf.put(added.entries);
      } catch (error) {
        records.forget(record.mockId); // so that another try can keep it
        throw error;
      }
      await records.trim();
    },
    async get(mockId) {
      await records.trim();
      return kept.get(mockId)?.record ?? null;
    },
    result: (mockId) => shelf.read(resultOf(mockId)),
    delivered: async () => {}, // what is trimmed is gone at once: its readers are in this process
    input: (mockId) => shelf.read(inputOf(mockId)),
    async addLateResult(mockId, body, rules) {
      const entry = kept.get(mockId);
      if (!entry || entry.record.lateResult) return;
      const record = { ...entry.record, lateResult: true, ...(rules && { rules }) };
      const changed = { ...entry, record, bytes: entry.bytes + body.length };
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

/** Where a list goes on after one of its members: behind it, or, where it was erased, with those that were added at its time or earlier. */
function placeAfter(members: readonly Indexed[], after: Indexed): number {
  let [first, end] = [0, members.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if ((members[middle]?.at ?? 0) > after.at) first = middle + 1;
    else end = middle;
  }
  for (let place = first; members[place]?.at === after.at; place++)
    if (members[place]?.member === after.member) return place + 1;
  return first;
}

function listKept({ kept, newestFirst }: Records, filter: HistoryFilter): Promise<HistoryPage> {
  return listPage(
    filter,
    async (after, wanted) => {
      const members = newestFirst();
      const first = after === null ? 0 : placeAfter(members, after);
      return members.slice(first, first + wanted);
    },
    async (mockIds) => mockIds.map((mockId) => kept.get(mockId)?.record ?? null),
  );
}
