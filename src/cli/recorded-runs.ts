import { z } from 'zod';
import { type Decision, decisionSchema } from '../shared/contract/job.ts';
import { parseJson } from '../shared/contract/parse-json.ts';
import { stepSchema } from '../shared/contract/states.ts';
import { type HistoryOptions, limitOf, pagesOf } from './history.ts';
import { get, type HttpApi } from './http-api.ts';
import { rawMember } from './raw-member.ts';

/** A run that can be made again. `input`: as it was written. `ts`: the time that it ran as of, decimal text. `process`: its trace. */
export type RecordedRun = { mockId: string; input: string; ts: string; decision: Decision; process: string | null };

/** Why a run is left out. */
type Skipped =
  | 'it was a dry run'
  | 'it came to no decision'
  | 'its input is not kept, or was cut'
  | 'fields of its input are hidden';
export type Recorded = { runs: RecordedRun[]; skipped: Map<Skipped, number> };

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

function readRun(mockId: string, raw: string): RecordedRun | Skipped {
  const { decision, dryRun, masked, history } = executionSchema.parse(parseJson(raw));
  const [input, result] = [rawMember(raw, 'input'), rawMember(raw, 'result') ?? '{}'];
  if (dryRun) return 'it was a dry run';
  if (decision === null) return 'it came to no decision';
  if (masked.length > 0) return 'fields of its input are hidden';
  if (input === undefined) return 'its input is not kept, or was cut';
  const dispatched = history.find(({ state }) => state === 'dispatched')?.at ?? history[0]?.at ?? 0;
  const ts = rawMember(raw, 'ts') ?? rawMember(result, 'ts') ?? rawMember(result, 'executeAt') ?? String(dispatched);
  return { mockId, input, ts, decision, process: traceOf(result) };
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
