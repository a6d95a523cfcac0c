import { type ExecutionRecord, isEnd, type Waits } from '../api/executions.ts';

/** One stretch of a run's way and how long it took. `run`: the pick-up was too quick to be seen apart from the rule. */
export type Phase = { name: 'queue' | 'client' | 'rule' | 'run' | 'notice'; ms: number };

/** The stretches of a run, in order. While the run goes on, its last stretch ends at `now`. */
export function phasesOf(record: ExecutionRecord, now: number): Phase[] {
  return isEnd(record.state) ? endedPhases(record) : openPhases(record, now);
}

function endedPhases({ timings }: ExecutionRecord): Phase[] {
  const { queued, pickUp, running, noticing } = timings;
  const phases: { name: Phase['name']; ms: number | null }[] = [
    { name: 'queue', ms: queued },
    { name: 'client', ms: pickUp },
    { name: pickUp === null ? 'run' : 'rule', ms: running },
    { name: 'notice', ms: noticing },
  ];
  return phases.flatMap(({ name, ms }) => (ms === null ? [] : [{ name, ms }]));
}

function openPhases(record: ExecutionRecord, now: number): Phase[] {
  const at = (state: string) => reachedAt(record, state);
  const [queued = now, dispatched, pickedUp] = [at('queued'), at('dispatched'), at('picked-up')];
  const lasted = (from: number, to: number) => Math.max(0, to - from);
  const phases: Phase[] = [{ name: 'queue', ms: lasted(queued, dispatched ?? now) }];
  if (dispatched !== undefined) phases.push({ name: 'client', ms: lasted(dispatched, pickedUp ?? now) });
  if (pickedUp !== undefined) phases.push({ name: 'rule', ms: lasted(pickedUp, now) });
  return phases;
}

/** When a run reached a state, epoch ms. */
export function reachedAt({ history }: ExecutionRecord, state: string): number | undefined {
  return history.find((step) => step.state === state)?.at;
}

/** The stretch of time in which a run has its answer, or is told to have none: epoch ms by the service's clock. */
export function deadlineOf(record: ExecutionRecord, waits: Waits): { from: number; at: number } {
  const queued = reachedAt(record, 'queued') ?? 0;
  const dispatched = reachedAt(record, 'dispatched');
  if (dispatched === undefined) return { from: queued, at: queued + waits.worker };
  return { from: dispatched, at: dispatched + waits.client };
}
