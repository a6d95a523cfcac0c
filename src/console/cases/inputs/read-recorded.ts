import { type LeftOut, type RecordedRun, recordedRun } from '../../../shared/reasoning/trace/recorded-run.ts';
import { getExecution, getHistory, type RunSearch } from '../../api/executions.ts';
import { eachOf } from '../each-of.ts';

export type Recorded = { runs: RecordedRun[]; leftOut: Map<LeftOut, number> };

type Wanted = { app: string; ruleId: string | null; search: RunSearch; count: number };

const PAGE = 100;

/** Reads the newest runs that a search finds, to make them again. `onRead` is called with how many were read, of how many. */
export async function readRecorded(
  { count, ...wanted }: Wanted,
  { signal, onRead }: { signal: AbortSignal; onRead: (read: number, of: number) => void },
): Promise<Recorded> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ids.length < count; ) {
    const page = await getHistory({ ...wanted, limit: Math.min(PAGE, count - ids.length), cursor }, signal);
    ids.push(...page.items.map(({ mockId }) => mockId));
    cursor = page.nextCursor;
    if (cursor === null) break;
  }
  const recorded: Recorded = { runs: [], leftOut: new Map() };
  let read = 0;
  const all = await eachOf(ids.slice(0, count), async (mockId) => {
    const { record, masked, input, result } = await getExecution(mockId, signal);
    onRead(++read, ids.length);
    return recordedRun({ ...record, masked, input, result });
  });
  for (const one of all) {
    if (typeof one === 'string') recorded.leftOut.set(one, (recorded.leftOut.get(one) ?? 0) + 1);
    else recorded.runs.push(one);
  }
  return recorded;
}
