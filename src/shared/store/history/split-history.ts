import { MAX_ITEMS } from '../../cases/batch.ts';
import { beginningOf } from '../../contract/execution-record.ts';
import type { History, HistoryLimits } from './history.ts';

/** The limits of the history of batches: half the room, and every run of the largest batch that fits into it. */
export function batchesPartOf({ count, seconds, bytes }: HistoryLimits): HistoryLimits {
  return { count: Math.max(Math.floor(count / 2), MAX_ITEMS), seconds, bytes: Math.floor(bytes / 2) };
}

/**
 * Executions of callers and items of batches, each in a history of its own, so that the former survive any number of the
 * latter. The history of batches has half the room.
 */
export function createSplitHistory(
  open: (limits: HistoryLimits, part: 'calls' | 'batches') => History,
  limits: HistoryLimits,
): History {
  const calls = open(limits, 'calls');
  const batches = open(batchesPartOf(limits), 'batches');
  return {
    add: ({ record, ...texts }) => {
      const error = record.error === null ? null : beginningOf(record.error);
      return (record.batchId === null ? calls : batches).add({ record: { ...record, error }, ...texts });
    },
    get: async (mockId) => (await calls.get(mockId)) ?? batches.get(mockId),
    result: async (mockId) => (await calls.result(mockId)) ?? batches.result(mockId),
    async delivered(mockId) {
      if ((await batches.get(mockId)) === null) await calls.delivered(mockId);
    },
    input: async (mockId) => (await calls.input(mockId)) ?? batches.input(mockId),
    async addLateResult(mockId, body, rules) {
      await calls.addLateResult(mockId, body, rules);
      await batches.addLateResult(mockId, body, rules);
    },
    lateResult: async (mockId) => (await calls.lateResult(mockId)) ?? batches.lateResult(mockId),
    async erase(mockId) {
      await calls.erase(mockId);
      await batches.erase(mockId);
    },
    kept: () => calls.kept(),
    list: (filter) => (filter.batchId === undefined ? calls : batches).list(filter),
  };
}
