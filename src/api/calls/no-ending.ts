import type { JobData } from '../../shared/contract/job.ts';
import { type NoAnswer, noAnswer, TRY_AGAIN_OR_SCALE } from '../../shared/contract/outcomes.ts';

const DID_NOT_RUN = { mayHaveRun: false };
const MAY_HAVE_RUN = { mayHaveRun: true };

/** No worker began it before its `claimBy`. */
export function neverTaken({ target }: JobData, workers: number): NoAnswer {
  if (workers === 0) {
    const error =
      'No worker takes executions: none runs, or none can use its SHARED_DIR (its /readyz says why). This one did not run. Start a worker and try again.';
    return noAnswer('no-worker', error, DID_NOT_RUN);
  }
  const error = `No worker began this execution for "${target}" in time: they are full. It did not run. ${TRY_AGAIN_OR_SCALE}`;
  return noAnswer('overloaded', error, DID_NOT_RUN);
}

/** No worker began it, by the word of a queue store that was away meanwhile. */
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

/** The call under this key was made before, and no API can tell what became of it. */
export function endingUnknown(mockId: string): NoAnswer {
  const error = `How execution ${mockId} ended is not known. It may have run; look at the client before running it again.`;
  return noAnswer('outcome-unknown', error, MAY_HAVE_RUN);
}

/** The same, and no worker could say whether it has begun. */
export function mayBeOnItsWay(mockId: string): NoAnswer {
  const error = `Execution ${mockId}, the first one under this Idempotency-Key, is not on the queue, and no worker could say whether it has begun. It may have run. Send the call again with the same key: it runs at most once.`;
  return noAnswer('outcome-unknown', error, MAY_HAVE_RUN);
}

/** The execution of this key was answered, and the answer had to leave. */
export function answerGone({ mockId, address }: { mockId: string; address: string }): NoAnswer {
  const error = `Client ${address} answered execution ${mockId}: it ran; its answer is no longer kept (IDEMPOTENCY_BYTES, HISTORY_OFF). It is not run again under this Idempotency-Key.`;
  return noAnswer('outcome-unknown', error, { ...MAY_HAVE_RUN, address });
}

/** No more calls can be remembered by their key. */
export function keysFull(): NoAnswer {
  const error =
    'As many calls are remembered by their Idempotency-Key as there is room for (IDEMPOTENCY_BYTES). This one did not run. Try again later, or without a key.';
  return noAnswer('overloaded', error, DID_NOT_RUN);
}

/** The note of a keyed call could not be written or read. */
export function notesAway(): NoAnswer {
  const error =
    'The queue store did not answer, so it is not known whether an earlier call under this Idempotency-Key ran; this one ran nothing. Send it again with the same key: it runs at most once.';
  return noAnswer('outcome-unknown', error, MAY_HAVE_RUN);
}
