import { traceEntries } from '../../contract/trace-entries.ts';
import type { RanTo } from '../../contract/verdict.ts';
import { idOf, memberOf, textOf } from '../../json-tree/members.ts';
import { type Json, readJson } from '../../json-tree/read-json.ts';
import type { LeftOut } from '../../reasons/remarks.ts';
import type { Decision } from './node-trace.ts';

/** A run that can be made again. `input`: as it was written. `ts`: the time that it ran as of, decimal text. `process`: its trace. */
export type RecordedRun = { mockId: string; input: string; ts: string; outcome: RanTo; process: string | null };

type Kept = {
  mockId: string;
  /** The node that ran alone; null for the whole rule. */
  confId: string | null;
  outcome: Decision | null;
  state: string;
  dryRun: boolean;
  masked: readonly string[];
  ts: string | null;
  history: readonly { state: string; at: number }[];
  /** As JSON text; null where it is not kept. */
  input: string | null;
  result: string | null;
};

/** A run as it was kept, to be made again; or why it is left out: nothing runs with `***` in its input. */
export function recordedRun({ mockId, input, state, ...kept }: Kept): RecordedRun | LeftOut {
  const outcome = state === 'failed' ? 'ERROR' : kept.outcome;
  const { confId, dryRun, masked, result } = kept;
  if (dryRun) return 'was-dry';
  if (confId !== null) return 'was-a-part';
  if (outcome === null) return 'was-not-answered';
  if (masked.length > 0) return 'input-hidden';
  if (input === null) return 'input-not-kept';
  const read = readJson(result ?? '{}');
  const answer = read.kind === 'ok' ? read.root : undefined;
  return { mockId, input, ts: ranAsOf(kept, answer), outcome, process: textOf(memberOf(answer, 'process')) };
}

/** The time that a run ran as of, decimal text. */
export function ranAsOf({ ts, history }: Pick<Kept, 'ts' | 'history'>, answer: Json | undefined): string {
  const dispatched = history.find(({ state }) => state === 'dispatched')?.at ?? history[0]?.at ?? 0;
  return ts ?? idOf(memberOf(answer, 'ts')) ?? idOf(memberOf(answer, 'executeAt')) ?? String(dispatched);
}

/** The runs that took one way through the tree, the newest first. */
export type Way<Run extends RecordedRun = RecordedRun> = { newest: Run; others: Run[] };

/** Runs by the nodes that they came through and their results; the way that most runs took first. */
export function waysOf<Run extends RecordedRun>(runs: readonly Run[]): Way<Run>[] {
  const groups = Map.groupBy(runs, ({ outcome, process }) => {
    const entries = process === null ? [] : traceEntries(process).entries;
    return [outcome, ...entries.map(({ id, state }) => `${id}:${state}`)].join(' ');
  });
  return [...groups.values()]
    .flatMap(([newest, ...others]) => (newest === undefined ? [] : [{ newest, others }]))
    .sort((a, b) => b.others.length - a.others.length);
}

/** How a case that was made of a run is called. */
export const nameOfCase = ({ outcome, mockId }: RecordedRun): string => `${outcome}, run ${mockId}`;
