import { z } from 'zod';
import { stepSchema } from '../../shared/contract/endings/states.ts';
import { decisionSchema } from '../../shared/contract/job.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { type LeftOut, type RecordedRun, recordedRun } from '../../shared/reasoning/trace/recorded-run.ts';
import { get, type HttpApi } from '../terminal/http-api.ts';
import { rawMember } from '../terminal/raw-member.ts';
import { type HistoryOptions, limitOf, pagesOf } from './history.ts';

export type Recorded = { runs: RecordedRun[]; skipped: Map<LeftOut, number> };

const executionSchema = z.object({
  decision: decisionSchema.nullable(),
  dryRun: z.boolean().optional(),
  masked: z.array(z.string()),
  history: z.array(stepSchema),
});

/** Reads the runs that a search finds, newest first. What cannot be made again is counted: nothing runs with `***` in its input. */
export async function readRecorded(api: HttpApi, search: HistoryOptions, signal: AbortSignal): Promise<Recorded> {
  const recorded: Recorded = { runs: [], skipped: new Map() };
  const limit = limitOf(search);
  let found = 0;
  for await (const { items } of pagesOf(api, search, limit, signal))
    for (const { execution } of items.slice(0, limit - found)) {
      found++;
      const read = readRun(execution.mockId, await get(api, `executions/${execution.mockId}`, {}));
      if (typeof read === 'string') recorded.skipped.set(read, (recorded.skipped.get(read) ?? 0) + 1);
      else recorded.runs.push(read);
    }
  return recorded;
}

function readRun(mockId: string, raw: string): RecordedRun | LeftOut {
  const { dryRun = false, ...kept } = executionSchema.parse(parseJson(raw));
  const member = (name: string) => rawMember(raw, name) ?? null;
  const texts = { confId: member('confId'), ts: member('ts'), input: member('input'), result: member('result') };
  return recordedRun({ mockId, ...kept, dryRun, ...texts });
}

/** How many runs were left out, and why; empty if none was. */
export function skippedWords({ skipped }: Pick<Recorded, 'skipped'>): string {
  const parts = [...skipped].map(([why, count]) => `${count} because ${why}`);
  return parts.length === 0 ? '' : `Left out: ${parts.join(', ')}.`;
}

/** The trace of a result, as text; null where there is none. */
export function traceOf(result: string): string | null {
  const trace = parseJson(rawMember(result, 'process') ?? 'null');
  return typeof trace === 'string' ? trace : null;
}
