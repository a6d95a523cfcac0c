import { idOf, itemsOf, memberOf } from '../../shared/json-tree/members.ts';
import { type Json, readJson } from '../../shared/json-tree/read-json.ts';
import { type Result, readResult } from '../../shared/reasoning/result.ts';
import { type Decision, decisionOf } from '../../shared/reasoning/trace/node-trace.ts';
import { ranAsOf } from '../../shared/reasoning/trace/recorded-run.ts';
import type { Replay } from '../../shared/reasoning/trace/replay.ts';
import { runOn, type Traced } from '../../shared/reasoning/trace/replay-result.ts';
import { ALWAYS, bareNode, type Occurrence } from '../../shared/reasoning/tree.ts';
import type { RunToChange } from '../../shared/reasoning/what-if/leaf-in-run.ts';
import { type Reason, whyOf } from '../../shared/reasoning/why.ts';
import type { Tree } from '../api/browse.ts';
import type { Execution, ExecutionRecord, RulesOfRun } from '../api/executions.ts';

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
  const before = documentOf(execution.input);
  const ranAt = Number(ranAsOf(execution.record, result?.root));
  const { trace, replay, rest, decision, toChange } = runOn(occurrences, { result, input: before, ranAt });
  const [root] = occurrences;
  // Without a tree the outcome is what ended last.
  const last = root ? undefined : replay.unplaced.at(-1)?.nodeTrace;
  return {
    ...{ execution, result, late, before, after: result?.success ? result.data : null, trace, rest, replay },
    decision: last ? decisionOf(last) : decision,
    why: root ? whyOf(root, replay.nodeTraces) : [],
    ...{ ranAt, toChange },
  };
}

/** The nodes that a dry run did not call (`assumed`, `stubbed`), or called though they may have effects; none of a real run. */
export function nodesOfDryRun({ execution, result }: Reading, kind: 'assumed' | 'stubbed' | 'unsure'): string[] {
  if (!execution.record.dryRun) return [];
  return itemsOf(memberOf(memberOf(result?.root, 'effects'), kind)).map((id) => `#${idOf(id)}`);
}

export function documentOf(text: string | null): Json | null {
  if (text === null) return null;
  const read = readJson(text);
  return read.kind === 'ok' ? read.root : null;
}

/**
 * The rules of a run beside those of now. `same`: also where there is no run, and where nothing was sent. `other`: another digest. What its
 * client ran on is not known in the others. `unrecorded`: it was kept before rules were. `unread`: the files could not be read when it was sent.
 * `lagging`, `ahead`: its client had told an earlier version than was released, or a later one, and its answer does not say which one ran.
 * `unsure`: the files had changed without a new version. `about`: another version was released before the answer came.
 */
export type RulesOfRunNow = 'same' | 'other' | 'unrecorded' | 'unread' | 'unsure' | 'about' | 'lagging' | 'ahead';

export function compareRules(record: ExecutionRecord | null, digestNow: string | null): RulesOfRunNow {
  if (record === null || !record.history.some(({ state }) => state === 'dispatched')) return 'same';
  if (record.rules === null) return 'unrecorded';
  if (record.rules.digest === null) return digestNow === null ? 'same' : 'unread';
  const { released, loaded, digest, told, unsure, about } = record.rules;
  if (unsure) return 'unsure';
  if (about) return 'about';
  if (!told && released !== null && loaded !== null && loaded !== released)
    return BigInt(loaded) < BigInt(released) ? 'lagging' : 'ahead';
  return digest === digestNow ? 'same' : 'other';
}

/** The version that a run ran on: as its client told, else what was released when it was sent. Null where the app has none. */
export function versionRan(rules: RulesOfRun): string | null {
  if (rules?.told && rules.loaded !== '0') return rules.loaded;
  return rules?.released ?? null;
}

/** The same tree without what it decides by: of a run on rules that nobody knows, only its shape helps a reader. */
export function withoutSettings(tree: Tree): Tree {
  const rule = tree.rule && { ...tree.rule, timeWindow: ALWAYS };
  return { ...tree, rule, keys: [], root: tree.root && bareNode(tree.root) };
}
