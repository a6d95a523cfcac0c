import type { Json } from '../../json-tree/read-json.ts';
import type { Result } from '../result.ts';
import type { Occurrence } from '../tree.ts';
import type { RunToChange } from '../what-if/leaf-in-run.ts';
import { type Decision, decisionOf } from './node-trace.ts';
import { readProcess } from './read-process.ts';
import { type Replay, replayProcess } from './replay.ts';
import { replaySteps } from './replay-steps.ts';

/** A parsed trace: its kind, the part of its text that is no entry, and what it says of each place. */
export type Traced = { trace: 'steps' | 'process' | 'empty' | 'none'; replay: Replay; rest: string };

const nothing: Replay = { nodeTraces: new Map(), unplaced: [] };

/** Lays the trace of a result on a tree; without a tree it has no places. */
export function replayResult(result: Result | null, occurrences: readonly Occurrence[]): Traced {
  if (result?.steps?.kind === 'array' && result.steps.items.length > 0)
    return { trace: 'steps', replay: replaySteps(occurrences, result.steps), rest: '' };
  if (result === null || result.process === null) return { trace: 'none', replay: nothing, rest: '' };
  const { entries, rest } = readProcess(result.process);
  if (entries.length === 0 && rest === '') return { trace: 'empty', replay: nothing, rest };
  return { trace: 'process', replay: replayProcess(occurrences, entries), rest };
}

/** The same with what the root came to, null where the trace does not say, and what is computed from. `ranAt`: epoch ms. */
export function runOn(
  occurrences: readonly Occurrence[],
  { result, input, ranAt }: { result: Result | null; input: Json | null; ranAt: number },
): Traced & { decision: Decision | null; toChange: RunToChange } {
  const traced = replayResult(result, occurrences);
  const { nodeTraces } = traced.replay;
  const [root] = occurrences;
  const toChange = { occurrences, nodeTraces, tracesReads: traced.trace === 'steps', input, ranAt };
  return { ...traced, decision: decisionOf(root && nodeTraces.get(root)), toChange };
}
