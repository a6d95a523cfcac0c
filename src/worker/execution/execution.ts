import { LRUCache } from 'lru-cache';
import { type Ending, unanswered } from '../../shared/contract/endings/ending.ts';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { State } from '../../shared/contract/endings/states.ts';
import { type Progress, progressSchema } from '../../shared/contract/execution-record.ts';
import type { JobData } from '../../shared/contract/job.ts';
import type { Warning } from '../../shared/contract/warning.ts';
import { type Timer, time } from '../../shared/ports/time.ts';
import type { Cancel } from '../../shared/queue/cancels.ts';
import type { TakenJob } from '../../shared/queue/queue.ts';
import type { WorkerReport } from '../../shared/queue/worker-registry.ts';
import type { Claim, ClaimKey } from '../files/claims/claims.ts';
import { INSTANT_MS } from './next.ts';

/** One execution as a worker takes it: the job's id and data. */
export type Execution = {
  mockId: string;
  data: JobData;
  /** Epoch ms of when this worker took the job. */
  takenAt: number;
  /** Whether the queue says that no worker began it before. It may have forgotten: only a claim tells for sure. */
  firstAttempt: boolean;
  /** Whether there is time left to put it back and try again. */
  mayWait: boolean;
};

/**
 * An execution that may be dispatched. `beside`: what is done beside the wait, once it was dispatched; resolves to what its caller should
 * know. `repeated`: where its claim is, if an earlier call under
 * its Idempotency-Key wrote it, which the queue store has forgotten.
 */
export type Claimed = {
  kind: 'claimed';
  claim: Claim;
  beside: () => Promise<Warning[]>;
  repeated?: ClaimKey | undefined;
};
/**
 * An execution that goes back to the queue. `give-back`: at once, for another worker or a later try. `snooze`: for a while,
 * because too many wait for its client. `newer`: until a worker of a newer version takes it, because one began it.
 */
export type Postponed = { kind: 'give-back' | 'snooze' | 'newer' };

/** An execution that ended here. `marked`: its `.open` mark may be in the client's directory. */
export type Ended = { kind: 'ended'; ending: Ending; claim: Claim | null; marked: boolean };

/** The end of an execution in this worker. */
export type Outcome = Ended | Postponed;

/** An execution that ended without an answer: before it was claimed, or because a claimed one could not be finished. */
export function endedWithout(noAnswer: NoAnswer, claim: Claim | null = null): Ended {
  return { kind: 'ended', ending: unanswered(noAnswer), claim, marked: claim !== null };
}

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
      }, INSTANT_MS);
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

/** The messages that can reach an execution while it waits. `handover`: another worker goes on with it. */
export type Interrupt = 'handover' | Cancel['why'];
type Listener = (interrupt: Interrupt) => void;

/** A cancel can overtake the start of its execution, or come just before another worker takes it over. */
const MAX_REMEMBERED = 10_000;

/** This worker stops: what was only being read is left to another one. */
export class HandedOver extends Error {}

export type Interrupts = ReturnType<typeof createInterrupts>;

/** Carries interrupts to executions of this worker; cancels and the hand-over also to those that begin later. */
export function createInterrupts() {
  const listeners = new Map<string, Listener>();
  const cancels = new LRUCache<string, Cancel['why']>({ max: MAX_REMEMBERED });
  const reading = new Set<() => void>();
  let handingOver = false;

  return {
    /** Cancels one execution, now or when it begins to listen. */
    cancel({ mockId, why }: Cancel): void {
      cancels.set(mockId, why);
      listeners.get(mockId)?.(why);
    },
    isCancelled: (mockId: string) => cancels.has(mockId),

    /** Another worker may have the execution by now. Not remembered: the lock of the next try is another one. */
    lockLost(mockId: string): void {
      listeners.get(mockId)?.('handover');
    },

    /** Gives every execution that waits here back to the queue; this worker goes on. */
    releaseAll(): void {
      for (const listener of [...listeners.values()]) listener('handover');
    },

    /** Interrupts every execution, also those that have not begun to listen: this worker stops. */
    handOver(): void {
      handingOver = true;
      for (const listener of [...listeners.values()]) listener('handover');
      for (const stop of reading) stop();
    },
    get handingOver() {
      return handingOver;
    },

    /** Runs a task that only reads. Rejects with `HandedOver` once this worker stops, however long the task hangs. */
    async unlessHandedOver<T>(task: () => Promise<T>): Promise<T> {
      if (handingOver) throw new HandedOver();
      const { promise, reject } = Promise.withResolvers<never>();
      const stop = () => reject(new HandedOver());
      reading.add(stop);
      return Promise.race([task(), promise]).finally(() => reading.delete(stop));
    },

    /** Listens until the returned function is called. What came before is delivered at once. */
    listen(mockId: string, listener: Listener): () => void {
      listeners.set(mockId, listener);
      const earlier: Interrupt | undefined = handingOver ? 'handover' : cancels.get(mockId);
      if (earlier) queueMicrotask(() => listener(earlier));
      return () => {
        if (listeners.get(mockId) === listener) listeners.delete(mockId);
      };
    },
  };
}

export type Workload = ReturnType<typeof createWorkload>;

/** Counts what a worker has to do, for the APIs: they refuse calls when it is too much. Time at a client does not count. */
export function createWorkload() {
  let open = 0;
  let atClients = 0;
  let begun = 0;

  return {
    /** Counts an execution while the task runs. */
    during<T>(task: () => Promise<T>): Promise<T> {
      open++;
      return task().finally(() => open--);
    },
    /** The execution waits for its client, or for a slot there, while the task runs. */
    atClient<T>(task: () => Promise<T>): Promise<T> {
      atClients++;
      return task().finally(() => atClients--);
    },
    /** An execution was sent to a client, refused, or put back; or it waits for a slot at its client. */
    begun(): void {
      begun++;
    },
    load: (): Pick<WorkerReport, 'busy' | 'begun'> => ({ busy: open - atClients, begun }),
  };
}

/** Points of an execution, in order, where tests let a process die or fall asleep. */
export type Step =
  | 'before-temporary'
  | 'before-claim'
  | 'before-dispatch'
  | 'dispatched'
  | 'picked-up'
  | 'result-read'
  | 'before-completion'
  | 'completed'
  | 'before-record'
  | 'removed';

export type AtStep = (step: Step, mockId: string) => Promise<void> | void;
