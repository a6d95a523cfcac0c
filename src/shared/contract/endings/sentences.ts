import type { Code } from './codes.ts';
import type { NoAnswer } from './outcomes.ts';

/**
 * Every sentence with which an execution ends that has no answer, each with its code and whether the rule may have run. API, workers
 * and the examples of the OpenAPI document read it. CONTRIBUTING.md lists all places that a new code touches.
 */

const LOOK_AT_THE_CLIENT = 'look at the client before running it again';
/** The way out of a refusal because all workers are full. */
const TRY_AGAIN_OR_SCALE = 'Try again in a moment, or start more workers (without Redis there is one: set REDIS_URL).';
const BODIES_FULL = 'The bodies of all open calls take as much memory as they may (MAX_OPEN_BODY_BYTES).';
const CYCLE_NAMED_AT_MOST = 10;
const NAMED_AT_MOST = 10;

/** The client that an execution was claimed for. `givesUp`: it does not run a request that was taken back. */
type At = { address: string; givesUp: boolean };
type Mailbox = { address: string; app: number; directoryName: string };
/** The fault of a result, and whether it says that the client's process ended. */
type Unusable = { problem: string | undefined; clientDied: boolean; written?: string | undefined };
type Asked = { app: number; ruleId: string | null; confId: string | null };

export const sentences = {
  // Before it is on the queue.

  /** `waiting`: how many executions wait for a worker. */
  tooManyWait: (waiting: number) =>
    didNotRun('overloaded', `${waiting} executions are waiting already. This one did not run. ${TRY_AGAIN_OR_SCALE}`),

  /** More calls come than workers can begin. `seconds`: as long as a new one would wait. */
  tooManyCalls: (seconds: number) =>
    didNotRun(
      'overloaded',
      `Calls come faster than the workers can begin them: a new one would wait for ${seconds} s. This one did not run. ${TRY_AGAIN_OR_SCALE}`,
    ),

  /** `why`: what is the matter with the queue store. */
  notSent: (why: string) =>
    didNotRun(
      'queue-unavailable',
      `The queue store ${why}, so nothing was sent. It did not run. Try again in a moment.`,
    ),

  /** The memory for bodies is in use. */
  bodiesFull: () =>
    didNotRun('overloaded', `${BODIES_FULL} This one did not run. Try again in a moment, or start more APIs.`),

  /** The same of a call with a key: an earlier call under it may have run. */
  bodiesFullForKeyed: () =>
    mayHaveRun(
      'overloaded',
      `${BODIES_FULL} This call was not read, so it is not known whether an earlier one under its Idempotency-Key ran. Send it again with the same key: it runs at most once.`,
    ),

  /** Only a worker knows which rule a scene names; `why`: the reason why none said so. */
  sceneUnknown: (why: string) => didNotRun('no-worker', why),

  /** No more calls can be remembered by their key. */
  keysFull: () =>
    didNotRun(
      'overloaded',
      'As many calls are remembered by their Idempotency-Key as there is room for (IDEMPOTENCY_BYTES). This one did not run. Try again later, or without a key.',
    ),

  /** The note of a keyed call could not be written or read; `why`: what is the matter with the queue store. */
  notesAway: (why = 'did not answer') =>
    mayHaveRun(
      'outcome-unknown',
      `The queue store ${why}, so it is not known whether an earlier call under this Idempotency-Key ran; this one ran nothing. Send it again with the same key: it runs at most once.`,
    ),

  /** So many calls with keys are refused for load that their notes cannot be looked up. */
  notesBusy: () =>
    mayHaveRun(
      'overloaded',
      `Calls come faster than the workers can begin them, and whether an earlier call under this Idempotency-Key ran was not looked up; this one ran nothing. Send it again with the same key: it runs at most once. ${TRY_AGAIN_OR_SCALE}`,
    ),

  /** The queue store was asked to take it, and did not say whether it did. */
  notConfirmed: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `The queue store did not confirm execution ${mockId}. It may run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** This API process stops. */
  stopping: () =>
    didNotRun(
      'stopping',
      'This API process is stopping. The call was not run; send it again, another process takes it.',
    ),

  /** The same of a call with a key: an earlier call under it may have run. */
  stoppingForKeyed: () =>
    mayHaveRun(
      'stopping',
      'This API process is stopping. This call ran nothing; whether an earlier one under its Idempotency-Key ran was not looked up. Send it again with the same key: another process takes it, and it runs at most once.',
    ),

  // On the queue.

  /** The caller left, or cancelled, before a worker began it. */
  cancelledInQueue: (mockId: string) =>
    didNotRun('cancelled', `Execution ${mockId} was cancelled before a worker began it. It did not run.`),

  /** The same, and no worker was there to refuse it in the place of its claim. */
  cancelledInDoubt: (mockId: string) =>
    mayHaveRun(
      'cancelled',
      `Execution ${mockId} was cancelled before a worker began it. It may run all the same, because no worker was there to rule that out; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** No worker began it before its `claimBy`; `workers`: how many there are. `why`: what a worker that takes none says. */
  neverTaken: (target: string, workers: number, why?: string) =>
    workers === 0
      ? sentences.noneTakes(why)
      : didNotRun(
          'overloaded',
          `No worker began this execution for "${target}" in time: they are full. It did not run. ${TRY_AGAIN_OR_SCALE}`,
        ),

  /** `why`: what a worker that takes none says; undefined where none says anything. */
  noneTakes: (why: string | undefined) =>
    why === undefined
      ? didNotRun(
          'no-worker',
          'No worker takes executions: none runs, or none reaches the queue store. This one did not run. Start a worker and try again.',
        )
      : didNotRun('no-worker', `No worker takes executions. ${why}. This one did not run.`),

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

  /** The job failed, which only a defect of a worker does. */
  workerFailed: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `The worker failed on execution ${mockId}; its log says why. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  // Answered, but the answer cannot be given.

  /** A worker of a newer version ended it. */
  endedInNewerForm: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `Execution ${mockId} ended in a newer form that this API does not know. It may have run; look at the client, or ask an API of the newer version.`,
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

  /** No API can tell how it ended. */
  endingUnknown: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `How execution ${mockId} ended is not known. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** It was begun by an earlier call under the key, of which the queue store knows nothing any more. */
  repeatUnknown: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `Execution ${mockId} was begun by an earlier call under this Idempotency-Key, and how it ended is not known any more: it was erased, or the queue store lost it. It may have run, and is not run again under this key; ${LOOK_AT_THE_CLIENT}.`,
    ),

  /** It is not on the queue, and no worker could say whether it has begun. */
  mayBeOnItsWay: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `Execution ${mockId}, the first one under this Idempotency-Key, is not on the queue, and no worker could say whether it has begun. It may have run. Send the call again with the same key: it runs at most once.`,
    ),

  /** An item of a batch that may have run, and so is not sent again. */
  itemUnknown: (mockId: string, why: string) =>
    mayHaveRun('outcome-unknown', `How ${mockId} ended is not known: ${why}. It may have run, and is not sent again.`),

  /** The store that held it was lost, and a new one has begun. */
  storeLost: (mockId: string) =>
    mayHaveRun(
      'outcome-unknown',
      `How execution ${mockId} ended is not known: the store that held it was lost. It may have run; ${LOOK_AT_THE_CLIENT}.`,
    ),

  // At a worker, before the request was dispatched.

  tooLate: () =>
    didNotRun('overloaded', `No worker had room for this execution in time. It did not run. ${TRY_AGAIN_OR_SCALE}`),

  cancelledBeforeDispatch: (mockId: string) =>
    didNotRun('cancelled', `Execution ${mockId} was cancelled before its request was written. It did not run.`),

  fenced: (mockId: string) =>
    didNotRun(
      'fenced',
      `Execution ${mockId} was withdrawn before it began: the same call was sent again, or its time was over. It did not run. Send the call again with the same Idempotency-Key.`,
    ),

  /** Something in the call that only a worker can judge; `message` goes on after the field's name. */
  badRequest: (field: string, message: string) => didNotRun('bad-request', message, { field }),

  /** `wanted`: which clients were asked for, or an empty text for any; `others`: a sentence on the clients there are. */
  noClient: (app: number, wanted: string, others: string) =>
    didNotRun('no-client', `App ${app} has no client online${wanted && ` for "${wanted}"`}. It did not run. ${others}`),
  unknownClient: (app: number, address: string, others: string) =>
    didNotRun('no-client', `App ${app} has no client ${address}. It did not run. ${others}`),
  clientOffline: (address: string, others: string) =>
    didNotRun('client-offline', `Client ${address} is offline. It did not run. ${others}`),
  /** `online`: names, with their lanes. `unread`: a registration that was passed over, if there is one. `isEmpty`: there are no clients of any app. */
  others: (online: readonly string[], unread: string | null, isEmpty = false): string => {
    const [named, rest] = [online.slice(0, NAMED_AT_MOST), online.length - NAMED_AT_MOST];
    const nobody = isEmpty
      ? "The workers' SHARED_DIR has no clients at all, of any app. Start a client, or check on both sides, workers and client, that SHARED_DIR is the same directory."
      : 'Start a client, or check its SHARED_DIR.';
    const there = online.length === 0 ? nobody : `Online: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`;
    return unread === null ? there : `${there} A registration was passed over: ${unread}.`;
  },

  /** `ids`: the nodes along a circle. The rule would never end, and take its client down with it. */
  cycle({ app, ruleId, confId }: Asked, ids: readonly bigint[]): NoAnswer {
    const named = ids.slice(0, CYCLE_NAMED_AT_MOST).join(' → ');
    const circle = ids.length > CYCLE_NAMED_AT_MOST ? `${named} → … (${ids.length} nodes)` : `${named} → ${ids[0]}`;
    const what = ruleId === null ? `Node ${confId}` : `Rule ${ruleId}`;
    const sentence = `${what} of app ${app} has a cycle: ${circle}. Remove one of these nodes from the children or the forward condition of the node before it. It did not run.`;
    return didNotRun('cycle', sentence);
  },

  /** `label`: the SDK of a client that only runs rules for real. */
  cannotRunDry: ({ address }: { address: string }, label: string) =>
    sentences.badRequest(
      'dryRun',
      `needs a client that can run without effects, and ${address} (SDK: ${label}) cannot. Name another one with target, or leave dryRun out to run the rule with all its effects`,
    ),

  clientFull: ({ address }: { address: string }) =>
    didNotRun(
      'overloaded',
      `Client ${address} has no room for this execution: it has as many open as it may (MAX_WAITS_PER_CLIENT), or this API key has its full share of them. This one did not run. Try again in a moment.`,
      { address },
    ),

  /** The request could not be written, so no client saw it. */
  channelUnavailable: ({ address, app, directoryName }: Mailbox, reason: string) =>
    didNotRun(
      'channel-unavailable',
      `The request for client ${address} could not be written to mock/${app}/${directoryName}: ${reason}. It did not run.`,
      { address },
    ),
  /** No client counts as online. `why`: the shared directory has no room. */
  diskFull: (why: string) =>
    didNotRun(
      'channel-unavailable',
      `${why}, so clients cannot say that they are online. It did not run. Make room and try again.`,
    ),
  /** The ending of a request that a client had, or could have had, while the shared directory had no room. */
  whileFull: (noAnswer: NoAnswer, why: string): NoAnswer => ({
    ...noAnswer,
    error: `${noAnswer.error} Meanwhile ${why}, so clients may be unable to answer.`,
  }),
  /** No client can be chosen. */
  clientsUnreadable: (app: number, reason: string) =>
    didNotRun(
      'channel-unavailable',
      `The clients of app ${app} could not be looked up in clients/${app} and mock/${app}: ${reason}. It did not run.`,
    ),
  /** Without a claim nothing may be written for a client. */
  claimsUnwritable: (reason: string) =>
    didNotRun(
      'channel-unavailable',
      `No claim can be written in .rule-server/claims of the shared directory: ${reason}. It did not run.`,
    ),

  /** `v`: the version of the job's data, which this worker cannot read; `known`: the newest that it reads. */
  tooNew: (v: number, known: number) =>
    didNotRun(
      'no-worker',
      `No worker can read the job of this execution: it is of version ${v}, and this worker knows versions up to ${known}. It did not run. Replace the workers first, then the APIs.`,
      { unrecorded: true },
    ),

  unreadableJob: (mockId: string) =>
    noAnswer(
      'outcome-unknown',
      `No worker can read the job of execution ${mockId}, and whether an earlier worker began it is not known. It may have run; look at the client.`,
      { mayHaveRun: true, unrecorded: true },
    ),

  unreadableClaim: (mockId: string) =>
    noAnswer(
      'outcome-unknown',
      `Whether execution ${mockId} was begun is not known: its claim in .rule-server/claims cannot be read, or is no longer kept. It may have run; look at the client.`,
      { mayHaveRun: true },
    ),

  // From here on the request was dispatched, or may have been.

  cancelledBeforePickUp: (claim: At) =>
    withdrawn(
      claim,
      'cancelled',
      `The execution was cancelled before ${claim.address} picked the request up; it was withdrawn.`,
    ),
  cancelledAfterPickUp: (claim: At) =>
    mayHaveRunAt(claim, 'cancelled', `The execution was cancelled after ${claim.address} had picked the request up.`),

  leftBeforePickUp: (claim: At) =>
    withdrawn(claim, 'client-left', `Client ${claim.address} unregistered before it picked the request up.`),
  left: (claim: At) => mayHaveRunAt(claim, 'client-left', `Client ${claim.address} left while it had the request.`),
  requestRemoved: (claim: At) =>
    mayHaveRunAt(
      claim,
      'client-left',
      `Client ${claim.address} is gone, and its directory was removed with the request in it; the worker did not see whether the client had picked it up.`,
    ),

  notPickedUp: (claim: At, timeoutMs: number) =>
    withdrawn(
      claim,
      'not-picked-up',
      `Client ${claim.address} did not pick the request up within ${timeoutMs} ms; it was withdrawn.`,
    ),
  silent: (claim: At, timeoutMs: number) =>
    mayHaveRunAt(
      claim,
      'no-answer',
      `Client ${claim.address} picked the request up, but wrote no answer within ${timeoutMs} ms.`,
    ),
  silentAfterRemoval: (claim: At, timeoutMs: number) =>
    mayHaveRunAt(
      claim,
      'no-answer',
      `The directory of client ${claim.address} was removed with the request in it, and there was no answer within ${timeoutMs} ms.`,
    ),

  invalidResult: ({ address }: At, { problem, clientDied, written }: Unusable) =>
    noAnswer(
      'invalid-result',
      `Client ${address} wrote a result that cannot be used: it ${problem}. The rule ran or began to run.`,
      { mayHaveRun: true, address, ...(clientDied && { clientDied }), ...(written !== undefined && { written }) },
    ),
  invalidToTheEnd: (claim: At, { problem, clientDied, written }: Unusable, timeoutMs: number) => ({
    ...mayHaveRunAt(
      claim,
      'invalid-result',
      `Client ${claim.address} left a result that cannot be used: after ${timeoutMs} ms it ${problem}.`,
    ),
    ...(clientDied && { clientDied }),
    ...(written !== undefined && { written }),
  }),

  /** The client had the request of a dry run, and its answer does not say that it was one. `showsRun`: the answer has a trace, or is a success. */
  ignoredDryRun: ({ address }: At, showsRun: boolean) =>
    showsRun
      ? noAnswer(
          'client-ignored-dry-run',
          `Client ${address} was asked for a run without effects, and its answer does not say that it made one: the rule may have run with all its effects; ${LOOK_AT_THE_CLIENT}.`,
          { mayHaveRun: true, address },
        )
      : noAnswer(
          'client-ignored-dry-run',
          `Client ${address} cannot run without effects, and found nothing to run in the request. It did not run. Another client may have had this address a moment ago.`,
          { mayHaveRun: false, address },
        ),

  /** There is a file at the result path that this worker could not read until the end; `why`: the error's code, explained. */
  unreadableResult: (claim: At, why: string, timeoutMs: number) =>
    mayHaveRunAt(
      claim,
      'no-answer',
      `Client ${claim.address} may have answered, but the worker could not read the answer for ${timeoutMs} ms (${why}). An answer that can be read later is kept with the execution.`,
    ),

  directoryHangs: (claim: At) =>
    mayHaveRunAt(
      claim,
      'no-answer',
      `The directory of client ${claim.address} does not respond, so the worker does not know whether it picked the request up or answered.`,
    ),

  cannotGoOn: ({ address, mockId }: { address: string; mockId: string }, why: string) =>
    noAnswer(
      'no-answer',
      `The wait for client ${address} on execution ${mockId} could not be finished (${why}). It may have run.`,
      { mayHaveRun: true, address },
    ),
};

/** The faults of a result file, as they go on after "it". A worker finds them. */
export const resultFaults = {
  empty: () => 'is empty',
  cut: (bytes: number) => `ends too early, after ${bytes} bytes`,
  /** `where`: empty for a last character that is cut off. */
  notUtf8: (where: string) => `is not valid UTF-8${where && `: ${where}`}`,
  /** `where`: a path; empty at the top. */
  notJson: (fault: string, where: string) => `is not JSON: ${fault}${where && ` in ${where}`}`,
  null: () => 'is the literal null: the client crashed while it ran the rule',
  notAnObject: (type: string) => `is JSON, but not an object: ${type}`,
  twice: (names: string) => `gives ${names} twice`,
  ofAnother: (mockId: string) => `answers another execution: its mockId is ${mockId}`,
  noSuccess: () => 'has no "success"',
  badSuccess: (value: string) => `has a "success" that is neither true nor false: ${value}`,
  badData: (field: string, kind: string) => `has a "${field}" that is not an object: ${kind}`,
  badTime: (value: string) => `has an "executeAt" that is not a number: ${value}`,
  link: () => 'is a link, which is never followed',
  socket: () => 'is a socket',
};

type More = Partial<Pick<NoAnswer, 'address' | 'field' | 'unrecorded'>>;

function didNotRun(code: Code, sentence: string, more: More = {}): NoAnswer {
  return noAnswer(code, sentence, { mayHaveRun: false, ...more });
}

function mayHaveRun(code: Code, sentence: string, address: string | null = null): NoAnswer {
  return noAnswer(code, sentence, { mayHaveRun: true, address });
}

function mayHaveRunAt({ address }: At, code: Code, sentence: string): NoAnswer {
  return mayHaveRun(code, `${sentence} The rule may have run; ${LOOK_AT_THE_CLIENT}.`, address);
}

/** A client that gives up on a request that is gone has not run what was withdrawn. Of other clients that is not known. */
function withdrawn(claim: At, code: Code, sentence: string): NoAnswer {
  if (!claim.givesUp) return mayHaveRunAt(claim, code, sentence);
  return noAnswer(code, `${sentence} The rule did not run.`, { mayHaveRun: false, address: claim.address });
}

type Rest = Pick<NoAnswer, 'mayHaveRun' | 'field' | 'unrecorded' | 'clientDied' | 'written'> & {
  address?: string | null;
};

/** A `NoAnswer` settled now. */
function noAnswer(code: Code, error: string, { address = null, ...rest }: Rest): NoAnswer {
  return { code, error, executeAt: Date.now(), address, ...rest };
}
