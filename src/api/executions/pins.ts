import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { type History, type HistoryLimits, MAX_PINNED, PINNED_SECONDS } from '../../shared/store/history/history.ts';
import { type Trees, treeKey } from '../../shared/store/history/trees.ts';
import type { Store } from '../../shared/store/key-value-store.ts';

/** `unknown`: it is not in the history. `full`: something is to be unpinned first. */
type Pinned = 'pinned' | 'unknown' | 'full';

/** `pinnedTrees`: the trees of what is pinned, once each. */
type PinsDependencies = { history: History; pinned: History; pinnedTrees: Store; trees: Trees; limits: HistoryLimits };

const pinnedTreeKey = ({ app, rules }: ExecutionRecord): string | null =>
  rules?.digest ? `tree-of-pinned:${treeKey(app, rules.digest)}` : null;

/** Executions that somebody pinned: they are kept, with their tree, until they are unpinned or erased. */
export function createPins({ history, pinned, pinnedTrees, trees, limits }: PinsDependencies) {
  async function treeOf(record: ExecutionRecord): Promise<string | null> {
    const { app, rules } = record;
    const shared = rules?.digest ? await trees.get(treeKey(app, rules.digest)) : null;
    const key = pinnedTreeKey(record);
    return shared ?? (key === null ? null : pinnedTrees.get(key));
  }

  /** The tree goes with the last pinned execution that ran on it. */
  async function unpin(mockId: string): Promise<void> {
    const record = await pinned.get(mockId);
    await pinned.erase(mockId);
    const key = record && pinnedTreeKey(record);
    if (!record || !key) return;
    const { records } = await pinned.list({ app: record.app, limit: 2 * MAX_PINNED });
    if (!records.some((other) => pinnedTreeKey(other) === key)) await pinnedTrees.remove(key);
  }

  /** The bytes that the trees of all pinned executions take, without the tree at one key. Reads them all: people pin seldom. */
  async function bytesOfTrees(except: string | null): Promise<number> {
    const { records } = await pinned.list({ limit: 2 * MAX_PINNED });
    const keys = new Set(records.flatMap((record) => pinnedTreeKey(record) ?? []));
    let bytes = 0;
    for (const key of keys) if (key !== except) bytes += (await pinnedTrees.get(key))?.length ?? 0;
    return bytes;
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
      const [input, body, late, tree] = await Promise.all([
        history.input(mockId),
        history.result(mockId),
        record.lateResult ? history.lateResult(mockId) : null,
        treeOf(record),
      ]);
      const bytes = [input, body, late, tree].reduce((sum, text) => sum + (text ?? '').length, 0);
      const kept = await pinned.kept();
      const key = pinnedTreeKey(record);
      const ofTrees = await bytesOfTrees(key);
      if (kept.executions >= MAX_PINNED || kept.bytes + ofTrees + bytes > limits.bytes / 2) return 'full';
      if (tree !== null && key !== null) await pinnedTrees.setIfAbsent(key, tree, PINNED_SECONDS);
      const settled = { record: { ...record, lateResult: false }, input: input ?? '', result: { body: body ?? '' } };
      await pinned.add(settled);
      if (late !== null) await pinned.addLateResult(mockId, late);
      return 'pinned';
    },
  };
}
