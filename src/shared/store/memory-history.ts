import type { ExecutionRecord } from '../contract/execution-record.ts';
import { type History, type HistoryLimits, listPage, MAX_INPUT_KEPT, memberOf } from './history.ts';
import type { Store } from './key-value-store.ts';

type Kept = {
  record: ExecutionRecord;
  input: string | null;
  body: string;
  lateBody: string | null;
  bytes: number;
  at: number;
};

/** History in this process, for the embedded queue. */
export function createMemoryHistory(store: Store, { count, seconds, bytes }: HistoryLimits): History {
  const kept = new Map<string, Kept>(); // in order of arrival, so the first is the oldest
  let totalBytes = 0;

  function trim(): void {
    for (const [mockId, oldest] of kept) {
      const tooOld = oldest.at + seconds * 1000 < Date.now();
      if (!tooOld && kept.size <= count && totalBytes <= bytes) return;
      kept.delete(mockId);
      totalBytes -= oldest.bytes;
    }
  }

  return {
    async add({ record, input, result }) {
      if (kept.has(record.mockId)) return;
      const body = 'body' in result ? result.body : ((await store.get(result.stored)) ?? 'null');
      const keptInput = input.length <= MAX_INPUT_KEPT ? input : null;
      const size = body.length + (keptInput?.length ?? 0) + JSON.stringify(record).length;
      kept.set(record.mockId, { record, input: keptInput, body, lateBody: null, bytes: size, at: Date.now() });
      totalBytes += size;
      trim();
    },
    async get(mockId) {
      trim();
      return kept.get(mockId)?.record ?? null;
    },
    result: async (mockId) => kept.get(mockId)?.body || null,
    delivered: async () => {}, // what is trimmed is gone at once: its readers are in this process
    input: async (mockId) => kept.get(mockId)?.input || null,
    async addLateResult(mockId, body) {
      const entry = kept.get(mockId);
      if (!entry || entry.lateBody !== null) return;
      entry.lateBody = body;
      entry.record = { ...entry.record, lateResult: true };
      entry.bytes += body.length;
      totalBytes += body.length;
      trim();
    },
    async erase(mockId) {
      totalBytes -= kept.get(mockId)?.bytes ?? 0;
      kept.delete(mockId);
    },
    lateResult: async (mockId) => kept.get(mockId)?.lateBody ?? null,
    async list(filter) {
      trim();
      const members = [...kept.values()].reverse().map(({ record }) => memberOf(record));
      return listPage(
        filter,
        async (after, wanted) => {
          const last = after === null ? -1 : members.indexOf(after);
          return after !== null && last < 0 ? [] : members.slice(last + 1, last + 1 + wanted);
        },
        async (mockIds) => mockIds.map((mockId) => kept.get(mockId)?.record ?? null),
      );
    },
  };
}
