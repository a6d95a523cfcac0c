import type { Execution } from '../api/executions.ts';
import { type Json, readJson } from '../json/read-json.ts';
import { type Decision, decisionOf, type Mark } from '../trace/mark.ts';
import { readProcess } from '../trace/read-process.ts';
import { type Replay, replayProcess } from '../trace/replay.ts';
import { replaySteps } from '../trace/replay-steps.ts';
import type { Occurrence } from '../trace/tree.ts';
import { type Reason, whyOf } from '../trace/why.ts';
import { type Result, readResult } from './result.ts';

/** Everything the page shows of an ended run, worked out once. */
export type Reading = {
  execution: Execution;
  result: Result | null;
  /** True when the result came after the service had given up on it. */
  late: boolean;
  before: Json | null;
  after: Json | null;
  trace: 'steps' | 'process' | 'empty' | 'none';
  /** What of the trace text is no entry. */
  rest: string;
  replay: Replay;
  decision: Decision | null;
  why: Reason[];
};

const nothing: Replay = { marks: new Map(), unplaced: [] };

/** Reads an ended execution against the tree it ran through; without a tree its trace has no places. */
export function readRun(execution: Execution, occurrences: readonly Occurrence[]): Reading {
  const late = execution.lateResult !== null;
  const text = execution.lateResult ?? execution.result;
  const result = text === null ? null : readResult(text);
  const { trace, replay, rest } = replayOf(result, occurrences);
  const [root] = occurrences;
  const mark = root ? replay.marks.get(root) : lastOf(replay);
  return {
    execution,
    result,
    late,
    before: documentOf(execution.input),
    after: result?.success ? result.data : null,
    trace,
    rest,
    replay,
    decision: mark ? decisionOf(mark) : null,
    why: root ? whyOf(root, replay.marks) : [],
  };
}

function replayOf(
  result: Result | null,
  occurrences: readonly Occurrence[],
): { trace: Reading['trace']; replay: Replay; rest: string } {
  if (result?.steps?.kind === 'array' && result.steps.items.length > 0)
    return { trace: 'steps', replay: replaySteps(occurrences, result.steps), rest: '' };
  if (result === null || result.process === null) return { trace: 'none', replay: nothing, rest: '' };
  const { entries, rest } = readProcess(result.process);
  if (entries.length === 0 && rest === '') return { trace: 'empty', replay: nothing, rest };
  return { trace: 'process', replay: replayProcess(occurrences, entries), rest };
}

/** Without a tree the outcome is what ended last. */
function lastOf({ unplaced }: Replay): Mark | undefined {
  return unplaced.at(-1)?.mark;
}

function documentOf(text: string | null): Json | null {
  if (text === null) return null;
  const read = readJson(text);
  return read.kind === 'ok' ? read.root : null;
}
