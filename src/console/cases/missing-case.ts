import type { Occurrence } from '../../shared/reasoning/tree.ts';
import { type SmallestChange, smallestChange } from '../../shared/reasoning/what-if/smallest-change.ts';
import { getItems } from '../api/batch-items.ts';
import { getExecution } from '../api/executions.ts';
import { withChange } from '../run/form.ts';
import { readRun } from '../run/reading.ts';

/** An input that would reach a node: that of the case `name` with a change. */
type MissingCase = { input: string; name: string; change: SmallestChange };

const MOST_RUNS = 30;

/**
 * Looks among the first runs of a batch for the one whose input needs the smallest change to reach a node that no case reached. Nothing
 * runs. Null where none can be said for sure.
 */
export async function findMissingCase(
  to: Occurrence,
  { batchId, occurrences }: { batchId: string; occurrences: readonly Occurrence[] },
): Promise<MissingCase | null> {
  const { items } = await getItems(batchId, { after: 0, limit: MOST_RUNS });
  let least: MissingCase | null = null;
  for (const { mockId, name } of items) {
    if (mockId === null) continue;
    const execution = await getExecution(mockId).catch(() => null); // its record has gone, or the service does not answer: another may do
    if (execution?.input == null || execution.masked.length > 0) continue;
    const change = smallestChange(readRun(execution, occurrences).toChange, { reached: to });
    if (change === null || (least && change.changes.length >= least.change.changes.length)) continue;
    least = { input: withChange(execution.input, change), name, change };
    if (change.changes.length === 1) break;
  }
  return least;
}
