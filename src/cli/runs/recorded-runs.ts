import { executionSchema } from '../../shared/contract/execution.ts';
import { type TreeNode, treeSchema } from '../../shared/contract/rules-and-clients.ts';
import { type RecordedRun, recordedRun } from '../../shared/reasoning/trace/recorded-run.ts';
import { type LeftOut, leftOut } from '../../shared/reasons/remarks.ts';
import { get, type HttpApi, readAnswer } from '../terminal/http-api.ts';
import { type HistoryOptions, limitOf, pagesOf } from './history.ts';

/** `result`: its answer as JSON text; `root`: of the tree that it ran on. Null where they are not kept. */
export type AnsweredRecord = RecordedRun & { result: string | null; root: TreeNode | null };
type Recorded = { runs: AnsweredRecord[]; skipped: Map<LeftOut, number> };

/** Reads the runs that a search finds, newest first. What cannot be made again is counted: nothing runs with `***` in its input. */
export async function readRecorded(api: HttpApi, search: HistoryOptions, signal: AbortSignal): Promise<Recorded> {
  const recorded: Recorded = { runs: [], skipped: new Map() };
  const limit = limitOf(search);
  for await (const { items } of pagesOf(api, search, limit, signal))
    for (const { mockId } of items) {
      const kept = readAnswer(executionSchema, await get(api, `executions/${mockId}`, { include: 'tree' }));
      const read = recordedRun(kept);
      if (typeof read === 'string') recorded.skipped.set(read, (recorded.skipped.get(read) ?? 0) + 1);
      else {
        const root = kept.tree ? readAnswer(treeSchema, kept.tree).root : null;
        recorded.runs.push({ ...read, result: kept.result, root });
      }
    }
  return recorded;
}

/** How many runs were left out, and why; empty if none was. */
export function skippedWords({ skipped }: Pick<Recorded, 'skipped'>): string {
  const parts = [...skipped].map(([why, count]) => `${count} because ${leftOut[why]}`);
  return parts.length === 0 ? '' : `Left out: ${parts.join(', ')}.`;
}
