import type { StateStep } from '../../shared/contract/states.ts';
import type { Tracing } from '../../shared/runtime/tracing.ts';
import { time } from '../../shared/seams/time.ts';
import type { Ended, Execution } from './execution.ts';

/** Tells a trace what an execution went through here: claim, pick-up, rule, result. */
export function traceExecution(tracing: Tracing, { mockId, takenAt }: Execution, { ending }: Ended): void {
  const { steps = [] } = ending.kind === 'answered' ? ending.result : ending.noAnswer;
  const code = ending.kind === 'answered' ? 'answered' : ending.noAnswer.code;
  const answeredAt = ending.kind === 'answered' ? ending.result.answeredAt : undefined;
  const attributes = { 'rule_server.mock_id': mockId };
  const at = (state: StateStep['state']) => steps.find((step) => step.state === state)?.at;
  const part = (name: string, from: number, to: number) => tracing.part(name, Math.min(from, to), to, attributes);
  const now = time.now();
  const dispatched = at('dispatched');
  part('claim', takenAt, dispatched ?? now);
  if (dispatched !== undefined) {
    const answered = answeredAt ?? now;
    // A client may answer too quickly to be seen picking up.
    const pickedUp = at('picked-up') ?? (answeredAt === undefined ? undefined : answered);
    part('pick-up', dispatched, pickedUp ?? now);
    if (pickedUp !== undefined) part('rule', pickedUp, Math.max(pickedUp, answered));
  }
  tracing.part('result', Math.min(answeredAt ?? now, now), now, { ...attributes, 'rule_server.outcome': code });
}
