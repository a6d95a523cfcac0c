import { type Ending, type Execution, execute } from '../engine/execution.ts';
import { endedInTime } from '../engine/in-time.ts';
import type { HandleError } from '../engine/node.ts';
import type { ExecutionRequest, RunWatcher } from '../engine/run.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import type { Recorder } from './recorder.ts';
import { strayContext } from './stray-errors.ts';
import type { Telemetry } from './telemetry.ts';

/** Shared by all runs of a client. */
export type RunOptions = {
  ruleTimeoutMs: number;
  handleError: HandleError | undefined;
  onError: (error: unknown) => void;
  recorder?: Recorder | null;
  telemetry?: Telemetry | null;
};

type Ran = { execution: Execution; ending: Ending };

/** Runs a rule or a node to its end, at once when nothing in it has to wait, records and traces it. Never rejects for what a rule does. */
export function runRule(
  rules: RuleSet,
  request: ExecutionRequest,
  { ruleTimeoutMs: timeoutMs, handleError, onError, recorder, telemetry }: RunOptions,
  { withSteps, watcher }: { withSteps: boolean; watcher?: RunWatcher },
): Ran | Promise<Ran> {
  const { within, onLatePut } = strayContext(request, onError);
  const recording = recorder?.began(request);
  const traced = telemetry?.began(request, rules);
  const stepWatcher = traced?.watcher ?? null;
  const execution = within(null, () =>
    execute(rules, request, {
      withSteps: withSteps || stepWatcher !== null,
      timeoutMs,
      handleError,
      watcher,
      stepWatcher,
      onLatePut,
      within: traced ? (node, work, step) => traced.within(step, () => within(node, work)) : within,
    }),
  );
  const ending = endedInTime(execution, timeoutMs);
  return ending instanceof Promise ? ending.then(ranOf) : ranOf(ending);

  function ranOf(ending: Ending): Ran {
    recording?.ended(ending, execution.run.ts, request.data);
    traced?.ended(ending);
    return { execution, ending };
  }
}
