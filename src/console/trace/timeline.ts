import type { Mark } from '../../shared/reasoning/trace/mark.ts';
import type { Occurrence } from '../../shared/reasoning/tree.ts';

/** A node that ran, as a bar: ms since the run began, and how long it took with everything below it. */
type Bar = { occurrence: Occurrence; mark: Mark; start: number; ms: number };

/** The nodes that ran in the order in which they began, and the ms that all of them span; null where the trace has no times. */
export function timelineOf(marks: ReadonlyMap<Occurrence, Mark>): { bars: Bar[]; span: number } | null {
  const bars: Bar[] = [];
  for (const [occurrence, mark] of marks) {
    if (mark.start === null || mark.ms === null) continue;
    if (mark.outcome !== 'OUT_OF_TIME' && mark.outcome !== 'LEFT_OUT')
      bars.push({ occurrence, mark, start: mark.start, ms: mark.ms });
  }
  if (bars.length === 0) return null;
  bars.sort((a, b) => a.start - b.start || a.occurrence.index - b.occurrence.index);
  return { bars, span: Math.max(...bars.map(({ start, ms }) => start + ms)) };
}
