import { messageOf } from './engine/evaluate.ts';
import { type Execution, execute } from './engine/execution.ts';
import { endedInTime } from './engine/in-time.ts';
import type { HandleError } from './engine/node.ts';
import type { State } from './engine/state.ts';
import type { StepOutcome } from './engine/steps.ts';
import { isExactObject, toExact, toPlain, type Value } from './engine/values.ts';
import type { Recorder } from './recorder.ts';
import type { RuleSet } from './rules/rule-set.ts';
import { strayContext } from './stray-errors.ts';

/** What a rule is given; what is known of it, where something is. */
type InputOf<D> = unknown extends D ? Readonly<Record<string, unknown>> : D;
/** The data after a run: what a rule put beside the described keys can be anything. */
type OutputOf<D> = unknown extends D ? { [key: string]: Value } : D & { [key: string]: Value | undefined };

/** What to run: a rule, a node, or (both) the node inside the rule. */
export type RunRequest<D = unknown> = {
  ruleId?: number | bigint;
  confId?: number | bigint;
  /** Epoch ms to run as of; now when not given. */
  ts?: number;
  data?: InputOf<D>;
  /** Says in `steps` what every node came to. */
  withSteps?: boolean;
};

/** One occurrence of a node in a run, in the order they began. */
export type RunStep = {
  nodeId: bigint;
  name: string;
  outcome: StepOutcome;
  /** What was thrown, also when a state was taken instead. */
  error: string | null;
};

export type RunResult<D = unknown> = {
  success: boolean;
  /** What the rule came to; null when nothing ran, or when it failed. */
  outcome: State | null;
  data: OutputOf<D>;
  process: string;
  /** What was thrown; undefined when the run succeeded. */
  error: unknown;
  /** Nodes of the tree that this client cannot run, one sentence each. */
  warnings: readonly string[];
  /** Present when it was asked for. */
  steps?: readonly RunStep[];
};

type Options = {
  ruleTimeoutMs: number;
  handleError: HandleError | undefined;
  onError: (error: unknown) => void;
  recorder?: Recorder | null;
};

/** Runs a rule for the service this client is part of. Throws only when the data is nothing JSON can hold. */
export async function runInProcess(
  rules: RuleSet,
  { ruleId, confId, ts, data = {}, withSteps = false }: RunRequest,
  { ruleTimeoutMs, handleError, onError, recorder }: Options,
): Promise<RunResult> {
  const exact = toExact(data, new WeakMap(), 'data');
  if (!isExactObject(exact)) throw new TypeError('data must be an object');
  const request = { ruleId: idOf(ruleId), confId: idOf(confId), ts: idOf(ts), data: exact };
  const context = strayContext(request, onError);
  const recording = recorder?.began(request);
  const execution = execute(rules, request, { withSteps, timeoutMs: ruleTimeoutMs, handleError, ...context });
  const ending = await endedInTime(execution, ruleTimeoutMs);
  recording?.ended(ending, execution.run.ts, exact);
  return {
    success: ending.kind === 'done',
    outcome: ending.kind === 'done' ? ending.outcome : null,
    data: Object.fromEntries(Object.entries(exact).map(([key, value]) => [key, toPlain(value, new WeakMap())])),
    process: execution.run.process(),
    error: ending.kind === 'failed' ? (ending.error ?? new Error(messageOf(ending.error))) : undefined,
    warnings: execution.leftOut,
    ...(withSteps && { steps: stepsOf(execution) }),
  };
}

function stepsOf({ run }: Execution): RunStep[] {
  return (run.steps?.list ?? []).map(({ nodeId, name, outcome, error }) => ({ nodeId, name, outcome, error }));
}

const idOf = (id: number | bigint | undefined): bigint | null => (id === undefined ? null : BigInt(id) || null);
