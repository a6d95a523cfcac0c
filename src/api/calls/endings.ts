import { type Code, type NoAnswer, noAnswer, TRY_AGAIN_OR_SCALE } from '../../shared/contract/outcomes.ts';

const LOOK_AT_THE_CLIENT = 'look at the client before running it again';

/**
 * Every sentence with which the API ends a call that has no answer; only a process that stops has its own (`http/refuse-calls.ts`).
 * First those of calls that were not put on the queue.
 */
export const endings = {
  /** `waiting`: how many executions wait for a worker. */
  tooManyWait: (waiting: number) =>
    didNotRun('overloaded', `${waiting} executions are waiting already. This one did not run. ${TRY_AGAIN_OR_SCALE}`),

  /** `why`: what is the matter with the queue store. */
  notSent: (why: string) =>
    didNotRun(
      'queue-unavailable',
      `The queue store ${why}, so nothing was sent. It did not run. Try again in a moment.`,
    ),

  /** The memory for bodies is in use. */
  bodiesFull: () =>
    didNotRun(
      'overloaded',
      'The bodies of all open calls take as much memory as they may (MAX_OPEN_BODY_BYTES). This one did not run. Try again in a moment, or start more APIs.',
    ),

  /** Only a worker knows which rule a scene names; `why`: the reason why none said so. */
  sceneUnknown: (why: string) => didNotRun('no-worker', why),

  /** No more calls can be remembered by their key. */
  keysFull: () =>
    didNotRun(
      'overloaded',
      'As many calls are remembered by their Idempotency-Key as there is room for (IDEMPOTENCY_BYTES). This one did not run. Try again later, or without a key.',
    ),

  /** The note of a keyed call could not be written or read. */
  notesAway: () =>
    mayHaveRun(
      'outcome-unknown',
      'The queue store did not answer, so it is not known whether an earlier call under this Idempotency-Key ran; this one ran nothing. Send it again with the same key: it runs at most once.',
    ),

  /** The queue store was asked to take it, and did not say whether it did. */
  notConfirmed: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `The queue store did not confirm execution ${mockId}. It may run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  // On the queue.

  /** The caller left, or cancelled, before a worker began it. */
  cancelledInQueue: (mockId: string) =>
    didNotRun('cancelled', `Execution ${mockId} was cancelled before a worker began it. It did not run.`),

  /** No worker began it before its `claimBy`; `workers`: how many there are. */
  neverTaken: (target: string, workers: number) =>
    workers === 0
      ? didNotRun(
          'no-worker',
          'No worker takes executions: none runs, or none can use its SHARED_DIR (its /readyz says why). This one did not run. Start a worker and try again.',
        )
      : didNotRun(
          'overloaded',
          `No worker began this execution for "${target}" in time: they are full. It did not run. ${TRY_AGAIN_OR_SCALE}`,
        ),

  /** No worker began it, by the word of a queue store that was away meanwhile. */
  storeWasAway: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `The queue store was away while execution ${mockId} waited, and no worker took it up again. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** The API's own wait is over. */
  neverReported: (mockId: string, timeoutMs: number) =>
    mayHaveRun(
      'no-answer',
      `No worker reported the end of execution ${mockId} within ${timeoutMs} ms. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** The job failed, and not with an ending that its worker gave: for a reason of the queue's own. */
  queueGaveUp: (mockId: string, failedReason: string) =>
    mayHaveRun(
      'outcome-unknown',
      `The queue gave up on execution ${mockId}: ${failedReason}. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  // Answered, but the answer cannot be given.

  /** Workers answer in the version they are asked in, so this API was set back while the execution was open. */
  answeredInNewerForm: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `Execution ${mockId} was answered in a newer form that this API does not know. It ran; look at the client, or ask an API of the newer version.`,
    ),

  /** The text of a large answer was not in the store. */
  answerUnreadable: (mockId: string, address: string) =>
    mayHaveRun(
      'outcome-unknown',
      `Client ${address} answered execution ${mockId}, but its answer could not be read back from the store. It ran.`,
      address,
    ),

  /** The execution of this key was answered, and the answer had to leave. */
  answerGone: ({ mockId, address }: { mockId: string; address: string }) =>
    mayHaveRun(
      'outcome-unknown',
      `Client ${address} answered execution ${mockId}: it ran; its answer is no longer kept (IDEMPOTENCY_BYTES, HISTORY_OFF). It is not run again under this Idempotency-Key.`,
      address,
    ),

  // Of a call that was made before under the same key.

  /** No API can tell what became of it. */
  endingUnknown: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `How execution ${mockId} ended is not known. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** It is not on the queue, and no worker could say whether it has begun. */
  mayBeOnItsWay: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `Execution ${mockId}, the first one under this Idempotency-Key, is not on the queue, and no worker could say whether it has begun. It may have run. Send the call again with the same key: it runs at most once.`,
    ),
};

function didNotRun(code: Code, sentence: string): NoAnswer {
  return noAnswer(code, sentence, { mayHaveRun: false });
}

function mayHaveRun(code: Code, sentence: string, address: string | null = null): NoAnswer {
  return noAnswer(code, sentence, { mayHaveRun: true, address });
}
