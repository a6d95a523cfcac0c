import { time } from '../../shared/ports/time.ts';
import { causeOf, type Fault, fault } from '../../shared/reasons/causes.ts';
import { resultWithin, whileItRuns } from '../../shared/runtime/async.ts';
import { createThrottledAlert, type Logger, type ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import { reasonOf } from '../../shared/store/store-error.ts';
import type { Interrupts } from '../execution/execution.ts';
import {
  HANGS_AFTER_MS,
  MAY_HANG_MS,
  type SharedDirectory,
  UnusableSharedDirectory,
} from '../files/shared-directory.ts';
import { STORE_ADVICE } from './worker.ts';

/** The threads that wait for files are busy when a task waits so long for one of them; when it waits longer than `to`, all of them hang. */
const BUSY_MS = { from: 200, to: 5000 };
/** While they are busy a look waits for its turn, but no longer than this. */
const BUSY_AT_MOST_MS = 30_000;

const REPLACEABLE =
  'another user owns SHARED_DIR or may write it, and so may put another folder in the place of .rule-server';
const ADVICE =
  'give SHARED_DIR to the user of the workers or to root, with the mode 3775 (with the sticky bit) or 0755; only mock and clients need to be writable for the group';

const MAKE_ROOM = 'make room there; calls are told so meanwhile, and all goes on by itself';

/**
 * Whether a worker takes jobs. `reason`: why not, or why they cannot be answered all the same. Without the queue store it could take some, and
 * has none to take.
 */
export type WorkerState = { takesJobs: boolean; reason: string | null };

/** Whether the queue store answers a worker and takes writes, and if not, why. */
export type StoreState = { up: boolean; reason: string | null };

type DirectoryCheckDependencies = {
  worker: { run(): void; pause(): Promise<void> };
  /** Says to everybody whether this worker takes jobs, and what is the matter. Of one that does it rejects unless the queue store answers and takes writes. */
  announce(takesJobs: boolean, fault: Fault | null): Promise<void>;
  sharedDirectory: SharedDirectory;
  interrupts: Pick<Interrupts, 'releaseAll'>;
  /** Has a task done by the threads that wait for files, which itself waits for no file. */
  threads: () => Promise<unknown>;
  storeAlert: ThrottledAlert;
  log: Logger;
};

/** Lets a worker take jobs as long as its shared directory is the right one. `check` is to be called every second. */
export function createDirectoryCheck(dependencies: DirectoryCheckDependencies) {
  const { worker, announce, sharedDirectory, interrupts, threads, storeAlert, log } = dependencies;
  const { sharedDir } = sharedDirectory;
  const alert = createThrottledAlert(log.child({ sharedDir }), 'This worker takes no jobs');
  const strangers = createThrottledAlert(log.child({ sharedDir }), 'Others can remove the claims of this worker');
  const fullDisk = createThrottledAlert(log.child({ sharedDir }), 'The shared directory is full');
  let state: WorkerState = { takesJobs: false, reason: 'starting' };
  let store: StoreState = { up: false, reason: 'not reached yet' };
  const responds = createProbe(sharedDirectory, threads);
  const examine = oneAtATime(() => sharedDirectory.check().then(accept).catch(refuse));

  async function refuse(error: unknown): Promise<void> {
    // While the queue store is away there are no jobs to take; that is no reason to doubt the directory.
    if (!(error instanceof UnusableSharedDirectory)) {
      store = { up: false, reason: reasonOf(error) };
      if (!state.takesJobs) state = { ...state, reason: store.reason };
      return storeAlert.begins(error, STORE_ADVICE);
    }
    store = { up: true, reason: null };
    await announce(false, error.fault).catch(() => {}); // its next report says it again
    if (state.takesJobs) await worker.pause();
    state = { takesJobs: false, reason: error.message };
    alert.begins(error, error.message);
  }

  async function accept(): Promise<void> {
    const full = sharedDirectory.whyFull();
    await announce(true, full);
    if (!state.takesJobs) {
      worker.run();
      log.info({ sharedDir }, 'this worker takes jobs');
    }
    const reason = full && causeOf(full);
    state = { takesJobs: true, reason };
    store = { up: true, reason: null };
    alert.ends();
    storeAlert.ends();
    if (reason === null) fullDisk.ends();
    else fullDisk.begins(new Error(reason), MAKE_ROOM);
    if (sharedDirectory.isReplaceable()) strangers.begins(new Error(REPLACEABLE), ADVICE);
    else strangers.ends();
  }

  return {
    /** Ends with the check, or once the directory does not respond: it may stop to at any moment, also within the check. */
    async check(): Promise<void> {
      while (await responds()) {
        if (await examine(MAY_HANG_MS)) return; // otherwise the directory is looked at again meanwhile
      }
      await refuse(new UnusableSharedDirectory(fault('dir-silent', {})));
      interrupts.releaseAll(); // a worker that reaches the directory goes on with what is open here
    },
    state: () => state,
    store: () => store,
  };
}

/** Tells whether the directory responds. A worker with very much to do waits long for its turn at one that does. */
function createProbe(sharedDirectory: SharedDirectory, threads: () => Promise<unknown>): () => Promise<boolean> {
  const look = oneAtATime(() => sharedDirectory.isThere());
  const turn = oneAtATime(threads);
  return async () => {
    const givenUpAt = time.monotonic() + BUSY_AT_MOST_MS;
    while (!(await look(HANGS_AFTER_MS))) {
      const askedAt = time.monotonic();
      const isMoving = await turn(BUSY_MS.to);
      if (!isMoving || time.monotonic() - askedAt < BUSY_MS.from || askedAt >= givenUpAt) return false;
    }
    return true;
  };
}

/** Runs a task, and tells whether it ended within so many ms. One that has not ended is not begun again: each that hangs keeps a thread. */
function oneAtATime(task: () => Promise<unknown>): (withinMs: number) => Promise<boolean> {
  const run = whileItRuns(task);
  return (withinMs) => resultWithin(withinMs, { of: run().then(() => true), late: () => false });
}
