import { readResult } from '../../shared/reasoning/result.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { firstDifference } from '../../shared/reasoning/trace/first-difference.ts';
import type { Item } from '../api/batch-items.ts';
import { getExecution } from '../api/executions.ts';
import { eachOf } from './each-of.ts';

/** Runs that had another decision in the same way. `at`: the first node that differs; null where the traces do not say. */
type ChangeGroup = {
  before: string;
  now: string;
  at: NamedNode | null;
  items: { n: number; before: string; now: string }[];
};

/** The decisions that are other ones than before, grouped by the first node that differs; the largest group first. */
export async function changedDecisions(items: readonly Item[], signal: AbortSignal): Promise<ChangeGroup[]> {
  const changed = items.flatMap(({ n, name, verdict, mockId, expected, outcome }) =>
    verdict === 'failed' && mockId !== null ? [{ n, name, mockId, expected, outcome }] : [],
  );
  const traceOf = async (mockId: string) => {
    const { result } = await getExecution(mockId, signal);
    return result === null ? null : (readResult(result)?.process ?? null);
  };
  const groups = new Map<string, ChangeGroup>();
  await eachOf(changed, async ({ n, name, mockId, expected, outcome }) => {
    // One of the two may not be kept any more.
    const [old, again] = await Promise.all([name, mockId].map((id) => traceOf(id).catch(() => null)));
    const at = old && again ? firstDifference(old, again) : null;
    const [before, now] = [expected ?? '', outcome ?? ''];
    const key = `${before} ${now} ${at?.id ?? ''}`;
    const group = groups.get(key) ?? { before, now, at, items: [] };
    group.items.push({ n, before: name, now: mockId });
    groups.set(key, group);
  });
  for (const group of groups.values()) group.items.sort((a, b) => a.n - b.n);
  return [...groups.values()].sort((a, b) => b.items.length - a.items.length);
}
