import type { Listed } from '../api/executions.ts';

/** One line of the history: a run, or the runs of one "all, compare". */
type HistoryLine = { kind: 'run'; run: Listed } | { kind: 'comparison'; runs: Listed[] };

const BEGUN_WITHIN_MS = 5000;

/** Puts the runs of a comparison together: the same call to one client after the other, begun within moments. Newest first. */
export function groupComparisons(runs: readonly Listed[]): HistoryLine[] {
  const lines: HistoryLine[] = [];
  for (const run of runs) {
    const last = lines.at(-1);
    const others = last?.kind === 'comparison' ? last.runs : last ? [last.run] : [];
    if (others.length > 0 && belongs(run, others)) lines.splice(-1, 1, { kind: 'comparison', runs: [...others, run] });
    else lines.push({ kind: 'run', run });
  }
  return lines;
}

function belongs(run: Listed, others: readonly Listed[]): boolean {
  const later = others.at(-1);
  if (!later || !run.target.startsWith('address:') || run.input === null) return false;
  if (others.some(({ target }) => target === run.target)) return false;
  const same = (['app', 'ruleId', 'confId', 'ts', 'input'] as const).every((name) => run[name] === later[name]);
  const apart = (later.history[0]?.at ?? 0) - (run.history[0]?.at ?? 0);
  return same && later.target.startsWith('address:') && apart <= BEGUN_WITHIN_MS;
}
