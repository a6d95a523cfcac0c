import type { State } from '../../shared/contract/endings/states.ts';
import { type Progress, progressSchema } from '../../shared/contract/execution-record.ts';
import { type Timer, time } from '../../shared/ports/time.ts';
import type { TakenJob } from '../../shared/queue/queue.ts';

/** An instant client has answered by then: its steps reach the history, and no API has to hear of them while they happen. */
const TELL_AFTER_MS = 30;

/** The job of an execution, as far as progress is concerned. */
type Job = Pick<TakenJob, 'id' | 'progress' | 'report'>;
type Entry = { job: Job; progress: Progress; timer: Timer | undefined };

export type ProgressReports = ReturnType<typeof createProgressReports>;

/** Tells the queue how far executions are, so that every API can show it. Best effort: no execution waits for it. */
export function createProgressReports() {
  const entries = new Map<string, Entry>();

  return {
    /** A job begins or goes on; what earlier workers reached is kept. */
    attach(job: Job): void {
      const earlier = progressSchema.safeParse(job.progress);
      const progress = earlier.success ? earlier.data : { address: '', steps: [] };
      entries.set(job.id, { job, progress, timer: undefined });
    },

    /** An execution reached a state. A state reached before, by this worker or another, is not told twice. */
    reached(mockId: string, address: string, state: Extract<State, 'dispatched' | 'picked-up'>): void {
      const entry = entries.get(mockId);
      if (!entry || entry.progress.steps.some((step) => step.state === state)) return;
      entry.progress = { address, steps: [...entry.progress.steps, { state, at: time.now() }] };
      entry.timer ??= time.setTimeout(() => {
        entry.timer = undefined;
        entry.job.report(entry.progress).catch(() => {}); // the next step, or the end, tells it again
      }, TELL_AFTER_MS);
    },

    /** How far an execution got; null while it reached nothing. */
    of(mockId: string): Progress | null {
      const progress = entries.get(mockId)?.progress;
      return progress && progress.steps.length > 0 ? progress : null;
    },

    /** An execution is over here. */
    detach(mockId: string): void {
      time.clearTimeout(entries.get(mockId)?.timer);
      entries.delete(mockId);
    },
  };
}
