import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import type { History, HistoryLimits } from '../../shared/store/history.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import { type Trees, treeKey } from '../../shared/store/trees.ts';

/** So many executions may be pinned, in half of the room that the history has. */
export const MAX_PINNED = 1000;
const TEN_YEARS_SECONDS = 10 * 365 * 86_400;

/** Twice of what may be pinned: nothing that is pinned ever leaves for something else. */
export function pinnedLimitsOf({ bytes }: Pick<HistoryLimits, 'bytes'>): HistoryLimits {
  return { count: 2 * MAX_PINNED, seconds: TEN_YEARS_SECONDS, bytes };
}

/** `unknown`: it is not in the history. `full`: something is to be unpinned first. */
type Pinned = 'pinned' | 'unknown' | 'full';

type Dependencies = { history: History; pinned: History; store: Store; trees: Trees; limits: HistoryLimits };

const pinnedTreeKey = (mockId: string) => `tree-of-pinned:${mockId}`;

/** Executions that somebody pinned: they are kept, with their tree, until they are unpinned or erased. */
export function createPins({ history, pinned, store, trees, limits }: Dependencies) {
  async function treeOf({ mockId, app, rules }: ExecutionRecord): Promise<string | null> {
    const shared = rules?.digest ? await trees.get(treeKey(app, rules.digest)) : null;
    return shared ?? store.get(pinnedTreeKey(mockId));
  }

  async function unpin(mockId: string): Promise<void> {
    await pinned.erase(mockId);
    await store.remove(pinnedTreeKey(mockId));
  }

  return {
    unpin,
    /** The tree of the rules that it ran on, as JSON text; null when it is not kept. */
    treeOf,
    isPinned: async (mockId: string) => (await pinned.get(mockId)) !== null,
    async pin(mockId: string): Promise<Pinned> {
      if ((await pinned.get(mockId)) !== null) return 'pinned';
      const record = await history.get(mockId);
      if (record === null) return 'unknown';
      const [input, body, late] = await Promise.all([
        history.input(mockId),
        history.result(mockId),
        record.lateResult ? history.lateResult(mockId) : null,
      ]);
      const bytes = (input ?? '').length + (body ?? '').length + (late ?? '').length;
      const kept = await pinned.kept();
      if (kept.executions >= MAX_PINNED || kept.bytes + bytes > limits.bytes / 2) return 'full';
      const tree = await treeOf(record);
      if (tree !== null) await store.setIfAbsent(pinnedTreeKey(mockId), tree, TEN_YEARS_SECONDS);
      const settled = { record: { ...record, lateResult: false }, input: input ?? '', result: { body: body ?? '' } };
      await pinned.add(settled);
      if (late !== null) await pinned.addLateResult(mockId, late);
      return 'pinned';
    },
  };
}
