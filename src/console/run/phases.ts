import type { Step } from '../api/executions.ts';

/** One stretch of a run's way and how long it took. */
export type Phase = { name: 'queue' | 'client' | 'rule' | 'notice' | 'run'; ms: number };

/** Where the time went. `ruleMs`: how long the rule itself took by its trace; then what is left was noticing the answer. */
export function phasesOf(history: readonly Step[], { now, ruleMs }: { now: number; ruleMs: number | null }): Phase[] {
  const at = (state: Step['state']) => history.find((step) => step.state === state)?.at;
  const last = history.at(-1);
  const first = history[0]?.at;
  if (!last || first === undefined) return [];
  const ended = !['queued', 'dispatched', 'picked-up'].includes(last.state);
  const end = ended ? last.at : now;
  const dispatched = at('dispatched');
  const pickedUp = at('picked-up');
  const phases: Phase[] = [{ name: 'queue', ms: (dispatched ?? end) - first }];
  if (dispatched === undefined) return phases;
  phases.push({ name: 'client', ms: (pickedUp ?? end) - dispatched });
  if (pickedUp === undefined) return phases;
  const rest = end - pickedUp;
  if (!ended || ruleMs === null || ruleMs > rest) return [...phases, { name: 'run', ms: rest }];
  return [...phases, { name: 'rule', ms: ruleMs }, { name: 'notice', ms: rest - ruleMs }];
}
