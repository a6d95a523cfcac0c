import { isExactObject } from '../../shared/contract/json/raw-number.ts';
import { noOrigins, toExact, toPlainObject, type Value } from '../engine/data/values.ts';
import { messageOf } from '../engine/evaluate.ts';
import type { Execution } from '../engine/execution.ts';
import type { State } from '../engine/state.ts';
import type { StepOutcome } from '../engine/steps.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import { type RunOptions, runRule } from './run-rule.ts';

/** The data of a rule, typed where its type is known. */
type InputOf<D> = unknown extends D ? Readonly<Record<string, unknown>> : D;
/** The data after a run: what a rule put beside the described keys can be anything. */
type OutputOf<D> = unknown extends D ? { [key: string]: Value } : D & { [key: string]: Value | undefined };

/** The part to run: a rule, a node, or (both) the node inside the rule. */
export type RunRequest<D = unknown> = {
  ruleId?: number | bigint;
  confId?: number | bigint;
  /** Epoch ms to run as of; now when not given. */
  ts?: number;
  data?: InputOf<D>;
  /** Says in `steps` the result of every node. */
  withSteps?: boolean;
};

/** One occurrence of a node in a run, in the order they began. */
export type RunStep = {
  nodeId: bigint;
  name: string;
  outcome: StepOutcome;
  /** The thrown value, also when a state was taken instead. */
  error: string | null;
};

export type RunResult<D = unknown> = {
  success: boolean;
  /** The result of the rule; null when nothing ran, or when it failed. */
  outcome: State | null;
  data: OutputOf<D>;
  process: string;
  /** The thrown value; undefined when the run succeeded. */
  error: unknown;
  /** Nodes of the tree that this client cannot run, one sentence each. */
  warnings: readonly string[];
  /** Present when it was asked for. */
  steps?: readonly RunStep[];
};

/** Which rules to run, and on what: all of a scene, each on data of its own. */
export type SceneRequest<D = unknown> = Omit<RunRequest<D>, 'ruleId' | 'confId'> & { scene: string };
export type SceneResult<D = unknown> = RunResult<D> & { ruleId: bigint };

/** Runs a rule for the service this client is part of. Throws only when the data is nothing JSON can hold. @internal */
export async function runInProcess(
  rules: RuleSet,
  { ruleId, confId, ts, data = {}, withSteps = false, scene }: RunRequest & { scene?: string },
  options: RunOptions,
): Promise<RunResult> {
  const exact = toExact(data, noOrigins, 'data');
  if (!isExactObject(exact)) throw new TypeError('data must be an object');
  const request = { ruleId: idOf(ruleId), confId: idOf(confId), ts: idOf(ts), data: exact, scene };
  const { execution, ending } = await runRule(rules, request, options, { withSteps });
  return {
    success: ending.kind === 'done',
    outcome: ending.kind === 'done' ? ending.outcome : null,
    data: toPlainObject(exact, noOrigins),
    process: execution.run.process(),
    error: ending.kind === 'failed' ? (ending.error ?? new Error(messageOf(ending.error))) : undefined,
    warnings: execution.leftOut,
    ...(withSteps && { steps: stepsOf(execution) }),
  };
}

/** Runs the rules of a scene one after the other, by id: none sees what another one wrote. @internal */
export async function runSceneInProcess(
  rules: RuleSet,
  request: SceneRequest,
  options: RunOptions,
): Promise<SceneResult[]> {
  const results: SceneResult[] = [];
  for (const ruleId of rules.inScene(request.scene))
    results.push({ ruleId, ...(await runInProcess(rules, { ...request, ruleId }, options)) });
  return results;
}

function stepsOf({ run }: Execution): RunStep[] {
  return (run.steps?.list ?? []).map(({ nodeId, name, outcome, error }) => ({ nodeId, name, outcome, error }));
}

const idOf = (id: number | bigint | undefined): bigint | null => (id === undefined ? null : BigInt(id) || null);
