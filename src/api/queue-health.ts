import { queueNames } from '../shared/contract/queue-names.ts';
import { time } from '../shared/ports/time.ts';
import type { Backlog } from '../shared/queue/backlog.ts';
import type { QueueBackend } from '../shared/queue/queue-backend.ts';
import type { WorkerReports } from '../shared/queue/worker-registry.ts';
import { causeOf, type Fault, type Why } from '../shared/reasons/causes.ts';
import { asFault } from '../shared/reasons/template.ts';
import { atMost, POLL_MS } from '../shared/runtime/async.ts';
import type { ThrottledAlert } from '../shared/runtime/telemetry/logger.ts';
import { startUpkeep } from '../shared/runtime/upkeep.ts';
import { reasonOf, tookTooLong } from '../shared/store/store-error.ts';

/** The queue store counts as silent after one second without any reply, while a query is pending. */
const SILENT_AFTER_CHECKS = 20;

export type QueueHealth = {
  /** Resolves when the queue store answered for the first time. */
  readonly ready: Promise<void>;
  /** Whether the queue store answered lately, and takes writes. */
  readonly up: boolean;
  /** The reason why it is not up, in a few words; null when it is. */
  readonly reason: string | null;
  /** Set while it is not up because it has no room: why, and what to do. */
  readonly full: Fault | null;
  /** Executions waiting for a worker, as of a moment ago. */
  readonly waiting: number;
  /** Executions that workers have begun. */
  readonly active: number;
  /** Worker processes that take jobs. One that dies or freezes still counts for 5 s. */
  readonly workers: number;
  /** Faults of the shared directory, reported by workers that take no jobs for them, and by workers whose jobs cannot be answered. */
  readonly problems: readonly Fault[];
  close(): Promise<void>;
};

/** The advice in an API's log when the queue store does not answer. */
export const STORE_ADVICE =
  'new calls get 503 until it answers again, open ones go on; check that Redis runs and REDIS_URL is right, or make room where the store is';

/** Says to a caller why the queue store takes no calls. `full`: why it has no room, if so. */
export const whyAway = (full: Fault | null): StoreAway =>
  full === null ? { why: 'away' } : { why: 'full', ...asFault(full) };

/** Parameters of a reason. */
export type StoreAway = { why: 'away' } | { why: 'full'; fault: Why };

/** Detects a store that stays silent while a query is pending. Checks skipped because this process was busy are ignored. */
function createSilenceDetector(backend: QueueBackend) {
  let seen = backend.lastActivity();
  let quiet = 0;
  let isPending = false;
  const check = () => {
    const now = backend.lastActivity();
    if (now !== seen) quiet = 0;
    else if (isPending) quiet++;
    seen = now;
  };
  return {
    check,
    isSilent: () => quiet >= SILENT_AFTER_CHECKS,
    /** A query is pending while the task runs. */
    async during(task: () => Promise<unknown>): Promise<void> {
      isPending = true;
      await task().finally(() => {
        isPending = false;
      });
    },
  };
}

type State = {
  up: boolean;
  reason: string | null;
  waiting: number;
  active: number;
  workers: number;
  problems: Fault[];
};
const notReached: State = {
  ...{ up: false, reason: 'not reached yet', waiting: 0, active: 0, workers: 0, problems: [] },
};
type QueueHealthDependencies = { backend: QueueBackend; backlog: Backlog; storeAlert: ThrottledAlert };

function workersIn(reports: WorkerReports): Pick<State, 'workers' | 'problems'> {
  const all = [...reports.values()];
  const faults = all.flatMap(({ fault }) => fault ?? []);
  return {
    workers: all.filter(({ takesJobs }) => takesJobs).length,
    problems: [...new Map(faults.map((fault) => [causeOf(fault), fault])).values()],
  };
}

/** How often the queue is counted. */
const COUNT_MS = 250;

/**
 * Keeps an eye on the queue store in the background, so that no call has to ask before it is refused. Broken: it refuses, or the
 * connection is lost. Silent: nothing comes from it at all. A store that is only slow takes calls. The queue has a connection of its own, so
 * that a count does not wait behind calls.
 */
export function watchQueueHealth({ backend, backlog, storeAlert }: QueueHealthDependencies): QueueHealth {
  const queue = backend.openQueue(queueNames.executions); // the queue of the calls reports its faults
  const silence = createSilenceDetector(backend);
  let state = notReached;
  let probeDueAt = 0;
  const ready = Promise.withResolvers<void>();

  const count = async () => {
    await atMost(COUNT_MS, backend.connected); // so that the first count, for which a start waits, comes as soon as it can
    // First, because it says which command is refused, and a script does not.
    if (!state.up || time.monotonic() >= probeDueAt) {
      await backend.probe();
      probeDueAt = time.monotonic() + POLL_MS;
    }
    const [{ waiting, snoozed, taken }, reports] = await Promise.all([queue.count(), backend.workers.read()]);
    backlog.update(waiting, reports);
    // A job that was handed back is snoozed for a moment, and counts as waiting.
    state = { up: true, reason: null, waiting: waiting + snoozed, active: taken, ...workersIn(reports) };
    ready.resolve();
    const full = backend.full();
    if (full !== null)
      return storeAlert.begins(new Error(causeOf(full)), 'new calls get 503 until there is room, open ones go on');
    storeAlert.ends();
  };
  const loops = startUpkeep(
    [
      { name: 'counting', everyMs: COUNT_MS, firstMs: 0, run: () => silence.during(count) },
      { name: 'detecting silence', everyMs: 50, run: silence.check },
    ],
    (error) => {
      if (tookTooLong(error)) return; // busy, or silent, which the detector notices
      state = { ...state, up: false, reason: reasonOf(error) };
      storeAlert.begins(error, STORE_ADVICE);
    },
  );

  return {
    ready: ready.promise,
    get up() {
      return state.up && !silence.isSilent() && backend.full() === null;
    },
    get reason() {
      const full = backend.full();
      if (full !== null) return causeOf(full);
      return silence.isSilent() ? 'Redis does not answer' : state.reason;
    },
    get full() {
      return backend.full();
    },
    get waiting() {
      return state.waiting;
    },
    get active() {
      return state.active;
    },
    get workers() {
      return state.workers;
    },
    get problems() {
      return state.problems;
    },
    async close(): Promise<void> {
      await Promise.all([queue.close(), loops.stop()]);
    },
  };
}
