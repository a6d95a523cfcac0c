import { JOB_VERSION, type JobData } from '../shared/contract/job.ts';
import { type Code, type NoAnswer, noAnswer, TRY_AGAIN_OR_SCALE } from '../shared/contract/outcomes.ts';
import { errnoOf } from '../shared/runtime/errno.ts';
import type { Client } from './clients/client.ts';
import type { Claim } from './files/claim.ts';
import { ForeignPath } from './files/client-directories.ts';
import { explained, REASONS } from './reasons.ts';

const CYCLE_NAMED_AT_MOST = 10;

/** Every sentence with which a worker ends an execution that has no answer. First those of executions that never began. */
export const endings = {
  tooLate: () =>
    didNotRun('overloaded', `No worker had room for this execution in time. It did not run. ${TRY_AGAIN_OR_SCALE}`),

  cancelledBeforeDispatch: (mockId: string) =>
    didNotRun('cancelled', `Execution ${mockId} was cancelled before its request was written. It did not run.`),

  fenced: (mockId: string) =>
    didNotRun(
      'fenced',
      `Execution ${mockId} had not begun when its Idempotency-Key was needed for another call, or its time was over. It did not run. Send the call again with the same key.`,
    ),

  /** Something in the call that only a worker can judge; `message` goes on after the field's name. */
  badRequest: (field: string, message: string) => didNotRun('bad-request', message, { field }),

  /** `wanted`: which clients were asked for, or an empty text for any; `online`: a sentence that names the clients online. */
  noClient: (app: number, wanted: string, online: string) =>
    didNotRun('no-client', `App ${app} has no client online${wanted && ` for "${wanted}"`}. ${online}`),
  unknownClient: (app: number, address: string, online: string) =>
    didNotRun('no-client', `App ${app} has no client ${address}. ${online}`),
  clientOffline: (address: string, online: string) =>
    didNotRun('client-offline', `Client ${address} is offline. ${online}`),

  /** `ids`: the nodes along a circle. The rule would never end, and take its client down with it. */
  cycle({ app, ruleId, confId }: JobData, ids: readonly bigint[]): NoAnswer {
    const named = ids.slice(0, CYCLE_NAMED_AT_MOST).join(' → ');
    const circle = ids.length > CYCLE_NAMED_AT_MOST ? `${named} → … (${ids.length} nodes)` : `${named} → ${ids[0]}`;
    const what = ruleId === null ? `Node ${confId}` : `Rule ${ruleId}`;
    const sentence = `${what} of app ${app} runs in a circle: ${circle}. Take one of these out of the other's children or forward condition. It did not run.`;
    return didNotRun('cycle', sentence);
  },

  clientFull: ({ address }: Pick<Client, 'address'>) =>
    didNotRun(
      'overloaded',
      `Client ${address} has as many executions open as it may (MAX_WAITS_PER_CLIENT). This one did not run. Try again in a moment.`,
      { address },
    ),

  /** The request could not be written, so no client saw it; undefined for errors that say nothing about the directory. */
  channelUnavailable(error: unknown, { address, app, directoryName }: Client): NoAnswer | undefined {
    const reason = error instanceof ForeignPath ? 'it is not a directory of its own' : REASONS.get(errnoOf(error));
    if (reason === undefined) return undefined;
    const sentence = `The request for client ${address} could not be written to mock/${app}/${directoryName}: ${reason}. It did not run.`;
    return didNotRun('channel-unavailable', sentence, { address });
  },

  /** No client can be chosen; undefined for errors that say nothing about the directory. */
  clientsUnreadable(error: unknown, app: number): NoAnswer | undefined {
    const reason = error instanceof ForeignPath ? 'a link stands in their way' : REASONS.get(errnoOf(error));
    if (reason === undefined) return undefined;
    const sentence = `The clients of app ${app} could not be looked up in clients/${app} and mock/${app}: ${reason}. It did not run.`;
    return didNotRun('channel-unavailable', sentence);
  },

  /** Without a claim nothing may be written for a client; undefined for errors that say nothing about the directory. */
  claimsUnwritable(error: unknown): NoAnswer | undefined {
    const reason = errnoOf(error) === 'ENOENT' ? 'it is not there (is it still mounted?)' : REASONS.get(errnoOf(error));
    if (reason === undefined) return undefined;
    const sentence = `No claim can be written in .rule-server/claims of the shared directory: ${reason}. It did not run.`;
    return didNotRun('channel-unavailable', sentence);
  },

  /** `v`: the version of the job's data, which this worker cannot read. */
  tooNew: (v: number) =>
    didNotRun(
      'no-worker',
      `No worker can read the job of this execution: it is of version ${v}, and this worker knows versions up to ${JOB_VERSION}. It did not run. Replace the workers first, then the APIs.`,
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

  cancelledBeforePickUp: (claim: Claim) =>
    withdrawn(
      claim,
      'cancelled',
      `The execution was cancelled before ${claim.address} picked the request up; it was withdrawn.`,
    ),
  cancelledAfterPickUp: (claim: Claim) =>
    mayHaveRun(claim, 'cancelled', `The execution was cancelled after ${claim.address} had picked the request up.`),

  leftBeforePickUp: (claim: Claim) =>
    withdrawn(claim, 'client-left', `Client ${claim.address} unregistered before it picked the request up.`),
  left: (claim: Claim) => mayHaveRun(claim, 'client-left', `Client ${claim.address} left while it had the request.`),
  requestRemoved: (claim: Claim) =>
    mayHaveRun(
      claim,
      'client-left',
      `Client ${claim.address} is gone, and its directory was removed with the request in it; the worker did not see whether the client had picked it up.`,
    ),

  notPickedUp: (claim: Claim, timeoutMs: number) =>
    withdrawn(
      claim,
      'not-picked-up',
      `Client ${claim.address} did not pick the request up within ${timeoutMs} ms; it was withdrawn.`,
    ),
  silent: (claim: Claim, timeoutMs: number) =>
    mayHaveRun(
      claim,
      'no-answer',
      `Client ${claim.address} picked the request up, but wrote no answer within ${timeoutMs} ms.`,
    ),
  silentAfterRemoval: (claim: Claim, timeoutMs: number) =>
    mayHaveRun(
      claim,
      'no-answer',
      `The directory of client ${claim.address} was removed with the request in it, and there was no answer within ${timeoutMs} ms.`,
    ),

  invalidResult: ({ address }: Claim, { problem, clientDied }: Unusable) =>
    noAnswer(
      'invalid-result',
      `Client ${address} wrote a result that cannot be used: it ${problem}. The rule ran or began to run.`,
      { mayHaveRun: true, address, ...(clientDied && { clientDied }) },
    ),
  invalidToTheEnd: (claim: Claim, { problem, clientDied }: Unusable, timeoutMs: number) => ({
    ...mayHaveRun(
      claim,
      'invalid-result',
      `Client ${claim.address} left a result that cannot be used: after ${timeoutMs} ms it ${problem}.`,
    ),
    ...(clientDied && { clientDied }),
  }),

  /** A file lies where the answer belongs, and `code` kept this worker from reading it until the end. */
  unreadableResult: (claim: Claim, code: string, timeoutMs: number) =>
    mayHaveRun(
      claim,
      'no-answer',
      `Client ${claim.address} may have answered, but the worker could not read the answer for ${timeoutMs} ms (${code || 'internal error'}${explained(code)}). An answer that can be read later is kept with the execution.`,
    ),

  directoryHangs: (claim: Claim) =>
    mayHaveRun(
      claim,
      'no-answer',
      `The directory of client ${claim.address} does not respond, so the worker does not know whether it picked the request up or answered.`,
    ),

  cannotGoOn: ({ address, mockId }: Claim, error: unknown) =>
    noAnswer(
      'no-answer',
      `The wait for client ${address} on execution ${mockId} could not be finished (${errnoOf(error) || 'internal error'}). It may have run.`,
      { mayHaveRun: true, address },
    ),
};

/** The fault of a result, and whether it says that the client's process ended. */
type Unusable = { problem: string | undefined; clientDied: boolean };

type More = Partial<Pick<NoAnswer, 'address' | 'field' | 'unrecorded'>>;

function didNotRun(code: Code, sentence: string, more: More = {}): NoAnswer {
  return noAnswer(code, sentence, { mayHaveRun: false, ...more });
}

function mayHaveRun({ address }: Claim, code: Code, sentence: string): NoAnswer {
  return noAnswer(code, `${sentence} The rule may have run; look at the client before running it again.`, {
    mayHaveRun: true,
    address,
  });
}

/** A client that gives up on a request that is gone has not run what was withdrawn. Of other clients that is not known. */
function withdrawn(claim: Claim, code: Code, sentence: string): NoAnswer {
  if (!claim.givesUp) return mayHaveRun(claim, code, sentence);
  return noAnswer(code, `${sentence} The rule did not run.`, { mayHaveRun: false, address: claim.address });
}
