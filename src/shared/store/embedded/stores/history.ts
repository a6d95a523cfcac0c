import { z } from 'zod';
import { type ExecutionRecord, recordSchema } from '../../../contract/execution-record.ts';
import { parseJson } from '../../../contract/json/parse-json.ts';
import { time } from '../../../ports/time.ts';
import {
  type HistoryFilter,
  type HistoryLimits,
  type HistoryPage,
  type HistoryPart,
  type Indexed,
  listPage,
  MAX_INPUT_KEPT,
  memberOf,
} from '../../history/history.ts';
import type { EmbeddedStore } from '../../key-value-store.ts';
import type { Entry, Shelf } from './shelf.ts';

const keptSchema = z.object({ record: recordSchema, bytes: z.int(), at: z.int() });
type Kept = z.infer<typeof keptSchema>;

const inputOf = (mockId: string) => `${mockId}:input`;
const resultOf = (mockId: string) => `${mockId}:result`;
const lateOf = (mockId: string) => `${mockId}:late`;

/** How an execution is stored on the shelf. Empty texts are none. */
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

/** `seq`: its place in the order of arrival. Times say less: a clock may have been put back. */
type Placed = Indexed & { seq: number };

/** The order in which executions arrived. */
function createOrder() {
  const seqs = new Map<string, number>();
  let nextSeq = 0;
  /** Made when it is first asked for, and kept as it is from then on. */
  let newestFirst: Placed[] | null = null;

  const placed = ({ record, at }: Kept): Placed => {
    const member = memberOf(record);
    return { member, at, seq: seqs.get(member) ?? 0 };
  };
  return {
    add(entry: Kept): void {
      seqs.set(memberOf(entry.record), nextSeq++);
      newestFirst?.unshift(placed(entry));
    },
    drop({ record }: Kept): void {
      const member = memberOf(record);
      seqs.delete(member);
      // The oldest one leaves with almost every one that comes; any other is erased by hand.
      if (newestFirst?.at(-1)?.member === member) newestFirst.pop();
      else newestFirst = null;
    },
    newestFirst: (oldestFirst: Iterable<Kept>): readonly Placed[] =>
      (newestFirst ??= [...oldestFirst].reverse().map(placed)),
    /** Where one stands in it; undefined where it is not there (any more). */
    seqOf: (member: string) => seqs.get(member),
  };
}

/** The records, in order of arrival, so the first is the oldest. */
function openRecords(shelf: Shelf, { count, seconds, bytes }: HistoryLimits) {
  const kept = new Map<string, Kept>();
  const order = createOrder();
  let totalBytes = 0;

  const set = (entry: Kept) => {
    const before = kept.get(entry.record.mockId);
    totalBytes += entry.bytes - (before?.bytes ?? 0);
    kept.set(entry.record.mockId, entry);
    if (!before) order.add(entry);
  };
  const drop = (mockId: string) => {
    const entry = kept.get(mockId);
    if (!entry) return;
    totalBytes -= entry.bytes;
    kept.delete(mockId);
    order.drop(entry);
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
    newestFirst: () => order.newestFirst(kept.values()),
    seqOf: order.seqOf,
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

/**
 * History in this process, for the embedded queue: the records in memory, their texts on the shelf. `add` waits for nothing before it
 * writes, so that a record is part of the transaction in which its job ends.
 */
export function createEmbeddedHistory(store: EmbeddedStore, limits: HistoryLimits, shelf: Shelf): HistoryPart {
  const records = openRecords(shelf, limits);
  const { kept } = records;
  return {
    async add({ record, input, result }) {
      if (kept.has(record.mockId)) return;
      const body = 'body' in result ? result.body : (store.getNow(result.stored) ?? 'null');
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
      return shelf.sure(kept.get(mockId)?.record ?? null);
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
      try {
        await shelf.put([
          { key: mockId, info: JSON.stringify(changed) },
          { key: lateOf(mockId), text: body },
        ]);
      } catch (error) {
        records.set(entry); // so that another try can keep it
        throw error;
      }
      await records.trim();
    },
    erase: (mockId) => records.remove([mockId]),
    lateResult: (mockId) => shelf.read(lateOf(mockId)),
    async list(filter) {
      await records.trim();
      return shelf.sure(await listKept(records, filter));
    },
    async kept() {
      await records.trim();
      const [oldest] = kept.values();
      return { executions: kept.size, bytes: records.bytes(), oldest: oldest?.at ?? null };
    },
  };
}

/** Where a list goes on after one of its members: behind it, or, where it was erased, with those that were added at its time or earlier. */
function placeAfter(members: readonly Placed[], seq: number | undefined, at: number): number {
  if (seq === undefined) {
    const first = members.findIndex((member) => member.at <= at);
    return first < 0 ? members.length : first;
  }
  let [first, end] = [0, members.length];
  while (first < end) {
    const middle = (first + end) >> 1;
    if ((members[middle]?.seq ?? 0) >= seq) first = middle + 1;
    else end = middle;
  }
  return first;
}

function listKept({ kept, newestFirst, seqOf }: Records, filter: HistoryFilter): Promise<HistoryPage> {
  return listPage(
    filter,
    async (after, wanted) => {
      const members = newestFirst();
      const first = after === null ? 0 : placeAfter(members, seqOf(after.member), after.at);
      return members.slice(first, first + wanted);
    },
    async (mockIds) => mockIds.map((mockId) => kept.get(mockId)?.record ?? null),
  );
}
