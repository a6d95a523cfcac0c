import type { Listed } from '../../api/executions.ts';

/** One line of the history: a run, or the runs of one comparison. */
type HistoryLine = { kind: 'run'; run: Listed } | { kind: 'comparison'; runs: Listed[] };

/** Puts the runs of each comparison together, in the place of its newest. Only their own id says that runs belong together. */
export function groupComparisons(runs: readonly Listed[]): HistoryLine[] {
  const all = Map.groupBy(runs, ({ comparisonId, mockId }) => comparisonId ?? mockId);
  return [...all.values()].flatMap((together): HistoryLine[] => {
    const [run] = together;
    if (run === undefined) return [];
    return [together.length === 1 ? { kind: 'run', run } : { kind: 'comparison', runs: together }];
  });
}
