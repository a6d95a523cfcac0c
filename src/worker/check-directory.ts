import { createThrottledAlert, type Logger, type ThrottledAlert } from '../shared/runtime/logger.ts';
import { type SharedDirectory, UnusableSharedDirectory } from './files/shared-directory.ts';
import { STORE_ADVICE } from './worker.ts';

/** Whether a worker takes jobs, and if not, why. */
export type WorkerState = { takesJobs: boolean; reason: string | null };

type Dependencies = {
  worker: { run(): void; pause(): Promise<void> };
  sharedDirectory: SharedDirectory;
  storeAlert: ThrottledAlert;
  log: Logger;
};

/** Lets a worker take jobs as long as its shared directory is the right one. `check` is to be called every second. */
export function createDirectoryCheck({ worker, sharedDirectory, storeAlert, log }: Dependencies) {
  const { sharedDir } = sharedDirectory;
  const alert = createThrottledAlert(log.child({ sharedDir }), 'This worker takes no jobs');
  let state: WorkerState = { takesJobs: false, reason: 'starting' };
  let storeUp = false;

  async function refuse(error: unknown): Promise<void> {
    storeUp = error instanceof UnusableSharedDirectory;
    // While the queue store is away there are no jobs to take; that is no reason to doubt the directory.
    if (!(error instanceof UnusableSharedDirectory)) return storeAlert.begins(error, STORE_ADVICE);
    if (state.takesJobs) await worker.pause();
    state = { takesJobs: false, reason: error.message };
    alert.begins(error, error.message);
  }

  function accept(): void {
    if (!state.takesJobs) {
      worker.run();
      log.info({ sharedDir }, 'this worker takes jobs');
    }
    state = { takesJobs: true, reason: null };
    storeUp = true;
    alert.ends();
    storeAlert.ends();
  }

  return {
    check: () => sharedDirectory.check().then(accept, refuse),
    state: () => state,
    storeUp: () => storeUp,
  };
}
