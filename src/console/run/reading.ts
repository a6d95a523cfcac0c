import { idOf, itemsOf, memberOf } from '../../shared/json-tree/members.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import { type Result, readResult } from '../../shared/reasoning/result.ts';
import { type Decision, decisionOf, type Mark } from '../../shared/reasoning/trace/mark.ts';
import type { Replay } from '../../shared/reasoning/trace/replay.ts';
import { replayResult, type Traced } from '../../shared/reasoning/trace/replay-result.ts';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import type { RunToChange } from '../../shared/reasoning/what-if/smallest-change.ts';
import { type Reason, whyOf } from '../../shared/reasoning/why.ts';
import type { Execution } from '../api/executions.ts';

/** Everything the page shows of an ended run, worked out once. */
export type Reading = {
  execution: Execution;
  result: Result | null;
  /** True when the result came after the service had given up on it. */
  late: boolean;
  before: Json | null;
  after: Json | null;
  trace: Traced['trace'];
  /** The part of the trace text that is no entry. */
  rest: string;
  replay: Replay;
  decision: Decision | null;
  why: Reason[];
  /** When the rule ran, or as of when; epoch ms. */
  ranAt: number;
  /** The data that the smallest change of its input is computed from. */
  toChange: RunToChange;
};

/** Reads an ended execution against the tree it ran through; without a tree its trace has no places. */
export function readRun(execution: Execution, occurrences: readonly Occurrence[]): Reading {
  const late = execution.lateResult !== null;
  const text = execution.lateResult ?? execution.result;
  const result = text === null ? null : readResult(text);
  const { trace, replay, rest } = replayResult(result, occurrences);
  const [root] = occurrences;
  const mark = root ? replay.marks.get(root) : lastOf(replay);
  const before = documentOf(execution.input);
  const { ts, history } = execution.record;
  const ranAt = Number(ts ?? result?.executeAt ?? history[0]?.at ?? 0);
  const toChange = { occurrences, marks: replay.marks, tracesReads: trace === 'steps', input: before, ranAt };
  return {
    execution,
    result,
    late,
    before,
    after: result?.success ? result.data : null,
    trace,
    rest,
    replay,
    decision: mark ? decisionOf(mark) : null,
    why: root ? whyOf(root, replay.marks) : [],
    ranAt,
    toChange,
  };
}

/** The nodes that a dry run did not call (`assumed`, `stubbed`), or called though they may have effects; none of a real run. */
export function nodesOfDryRun({ execution, result }: Reading, kind: 'assumed' | 'stubbed' | 'unsure'): string[] {
  if (!execution.record.dryRun) return [];
  return itemsOf(memberOf(memberOf(result?.root, 'effects'), kind)).map((id) => `#${idOf(id)}`);
}

/** Without a tree the outcome is what ended last. */
function lastOf({ unplaced }: Replay): Mark | undefined {
  return unplaced.at(-1)?.mark;
}

export function documentOf(text: string | null): Json | null {
  if (text === null) return null;
  const read = readJson(text);
  return read.kind === 'ok' ? read.root : null;
}
