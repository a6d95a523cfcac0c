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
import type { Entry, Table } from './tables.ts';

const keptSchema = z.object({ record: recordSchema, bytes: z.int(), at: z.int() });
type Kept = z.infer<typeof keptSchema>;

const inputOf = (mockId: string) => `${mockId}:input`;
const resultOf = (mockId: string) => `${mockId}:result`;
const lateOf = (mockId: string) => `${mockId}:late`;

/** Empty texts are not stored. */
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

/** `seq` orders by arrival, because times go back when a clock is set. */
type Placed = Indexed & { seq: number };

/** The order in which executions arrived. */
function createOrder() {
  const seqs = new Map<string, number>();
  let nextSeq = 0;
  /** Built on first use, then kept up to date. */
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
      // Almost always the oldest one is removed; any other only by an erase.
      if (newestFirst?.at(-1)?.member === member) newestFirst.pop();
      else newestFirst = null;
    },
    newestFirst: (oldestFirst: Iterable<Kept>): readonly Placed[] =>
      (newestFirst ??= [...oldestFirst].reverse().map(placed)),
    /** Undefined if it is missing or was removed. */
    seqOf: (member: string) => seqs.get(member),
  };
}

/** The records in order of arrival, oldest first. */
function openRecords(table: Table, { count, seconds, bytes }: HistoryLimits) {
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
    table.remove(mockIds.flatMap((mockId) => [inputOf(mockId), resultOf(mockId), lateOf(mockId), mockId]));
  for (const { info } of table.load()) {
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
    /** Evicts the oldest records until all limits hold; resolves once their texts are removed. */
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
 * The embedded history: records in memory, texts in the table. `add` awaits nothing before it writes, so that the record is part of the
 * transaction that ends its job.
 */
export function createEmbeddedHistory(store: EmbeddedStore, limits: HistoryLimits, table: Table): HistoryPart {
  const records = openRecords(table, limits);
  const { kept } = records;
  return {
    async add({ record, input, result }) {
      if (kept.has(record.mockId)) return;
      const body = 'body' in result ? result.body : (store.getNow(result.stored) ?? 'null');
      const keptInput = input.length <= MAX_INPUT_KEPT ? input : '';
      const added = historyEntries(record, { input: keptInput, body, at: time.now() });
      records.set(added.kept);
      try {
        await table.put(added.entries);
      } catch (error) {
        records.forget(record.mockId); // so that another try can keep it
        throw error;
      }
      await records.trim();
    },
    async get(mockId) {
      await records.trim();
      return table.sure(kept.get(mockId)?.record ?? null);
    },
    result: (mockId) => table.read(resultOf(mockId)),
    delivered: async () => {}, // what is trimmed is gone at once: its readers are in this process
    input: (mockId) => table.read(inputOf(mockId)),
    async addLateResult(mockId, body, rules) {
      const entry = kept.get(mockId);
      if (!entry || entry.record.lateResult) return;
      const record = { ...entry.record, lateResult: true, ...(rules && { rules }) };
      const changed = { ...entry, record, bytes: entry.bytes + body.length };
      records.set(changed);
      try {
        await table.put([
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
    lateResult: (mockId) => table.read(lateOf(mockId)),
    async list(filter) {
      await records.trim();
      return table.sure(await listKept(records, filter));
    },
    async kept() {
      await records.trim();
      const [oldest] = kept.values();
      return { executions: kept.size, bytes: records.bytes(), oldest: oldest?.at ?? null };
    },
  };
}

/** Where a list continues after a member. If that one was erased: with those added at its time or earlier. */
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
