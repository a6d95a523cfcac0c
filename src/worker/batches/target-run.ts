import type { Batch } from '../../shared/cases/batch.ts';
import type { Verdict } from '../../shared/contract/verdict.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { createCancelSender } from '../../shared/queue/cancels.ts';
import type { ExecutionQueue } from '../../shared/queue/queue.ts';
import type { StoreRun } from '../../shared/queue/queue-backend.ts';
import type { SkipReason } from '../../shared/reasons/remarks.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import type { Clients } from '../clients/clients.ts';
import type { Claims } from '../files/claims/claims.ts';
import type { ResolveTarget } from '../placement/resolve-target.ts';
import type { BatchSlots } from './batch-slots.ts';
import type { ClientPace } from './client-pace.ts';
import type { EarlierRuns } from './earlier-runs.ts';
import type { FollowItems } from './follow-items.ts';
import type { GiveWay } from './give-way.ts';
import type { HighWaterMark, HighWaterMarks } from './high-water-marks.ts';

export type RunTargetDependencies = {
  store: BatchStore;
  queue: ExecutionQueue;
  storeRun: StoreRun;
  followItems: FollowItems;
  earlierRuns: (batch: Batch) => EarlierRuns;
  claims: Claims;
  clients: Clients;
  marks: HighWaterMarks;
  pace: ClientPace;
  giveWay: Pick<GiveWay, 'maySend' | 'sent'>;
  cancels: ReturnType<typeof createCancelSender>;
  resolveTarget: ResolveTarget;
  privacy: Privacy;
  settings: Settings;
  /** Called with each item that got its verdict here. */
  onSettled: (verdict: Verdict) => void;
};

/** Shared by all targets of a batch: the stop reason and the failure count. */
export type BatchRun = {
  batch: Batch;
  stopped: SkipReason | null;
  /** Whether that is because somebody cancelled it. */
  isCancelled: boolean;
  failures: number;
  /** Executions in flight, each with the index of its target; null for an earlier run that is made again. */
  open: Map<string, number | null>;
  slots: BatchSlots;
  earlier: EarlierRuns;
  /** Digests of rules that earlier runs ran on and that cannot be run any more. */
  gone: Set<string>;
  signal: AbortSignal;
};

/** One target of a batch while its cases are run. */
export type TargetRun = RunTargetDependencies & {
  run: BatchRun;
  targetIndex: number;
  target: string;
  /** How long after it was sent an item may be begun. */
  begunWithinMs: number;
  /** The high-water marks of workers that ran this target before. */
  earlier: readonly HighWaterMark[];
  /** The run of the queue store when the items that it knows as sent were read. */
  storeRunNow: string | undefined;
  mark: HighWaterMark | null;
  inFlight: Set<Promise<void>>;
  /** Cases in a row without an answer, by client. */
  inARow: Map<string, number>;
  /** The reason why the rest of this target is skipped; null while it is not. */
  stopped: SkipReason | null;
  /** The first error of the service itself: it ends the run, and the batch is tried again. */
  failure: unknown;
};

/** The client chosen for an item, and how many of a batch it may have open. */
export type Chosen = { key: string; paceKey: string; target: string; address: string | null; limit: number };

/** Whether the target sends more items. */
export function goesOn({ stopped, run, failure }: TargetRun): boolean {
  return stopped === null && run.stopped === null && !run.signal.aborted && failure === undefined;
}

/** Ends early when the run is aborted. */
export function pause({ run: { signal } }: TargetRun, ms: number): Promise<void> {
  return time.pause(ms, signal);
}
