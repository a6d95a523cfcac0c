import type { JobData } from '../../shared/contract/job.ts';
import { type NoAnswer, noAnswer } from '../../shared/contract/outcomes.ts';

const DID_NOT_RUN = { mayHaveRun: false };
const MAY_HAVE_RUN = { mayHaveRun: true };

/** No worker began it before its `claimBy`. */
export function neverTaken({ target }: JobData, workers: number): NoAnswer {
  if (workers === 0) {
    const error =
      'No worker is running, so nobody could begin this execution. It did not run. Start a worker and try again.';
    return noAnswer('no-worker', error, DID_NOT_RUN);
  }
  const error = `No worker began this execution for "${target}" in time: they are full, or cannot use their SHARED_DIR. It did not run. Try again in a moment, or start more workers.`;
  return noAnswer('overloaded', error, DID_NOT_RUN);
}

/** No worker began it, as far as a queue store tells that was away meanwhile. */
export function storeWasAway(mockId: string): NoAnswer {
  const error = `The queue store was away while execution ${mockId} waited, and no worker took it up again. It may have run; look at the client before running it again.`;
  return noAnswer('outcome-unknown', error, MAY_HAVE_RUN);
}

/** The API's own wait is over. */
export function neverReported(mockId: string, timeoutMs: number): NoAnswer {
  const error = `No worker reported the end of execution ${mockId} within ${timeoutMs} ms. It may have run; look at the client before running it again.`;
  return noAnswer('no-answer', error, MAY_HAVE_RUN);
}

/** The caller left, or cancelled, before a worker began it. */
export function cancelledInQueue(mockId: string): NoAnswer {
  const error = `Execution ${mockId} was cancelled before a worker began it. It did not run.`;
  return noAnswer('cancelled', error, DID_NOT_RUN);
}
