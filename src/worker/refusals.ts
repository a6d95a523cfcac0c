import { JOB_VERSION, type JobData } from '../shared/contract/job.ts';
import { type NoAnswer, noAnswer } from '../shared/contract/outcomes.ts';
import { errnoOf } from '../shared/runtime/errno.ts';
import type { Client } from './clients/client.ts';
import type { Claim } from './files/claim.ts';
import { ForeignPath } from './files/shared-directory.ts';

const CYCLE_NAMED_AT_MOST = 10;
const DID_NOT_RUN = { mayHaveRun: false };

/** The sentences of executions that end before anything was dispatched, and of the one kind that cannot be carried on. */
export const refusals = {
  tooLate: () =>
    noAnswer(
      'overloaded',
      'No worker had room for this execution in time. It did not run. Try again in a moment, or start more workers.',
      DID_NOT_RUN,
    ),

  cancelled: (mockId: string) =>
    noAnswer(
      'cancelled',
      `Execution ${mockId} was cancelled before its request was written. It did not run.`,
      DID_NOT_RUN,
    ),

  /** Something in the call that only a worker can judge; `message` goes on after the field's name. */
  badRequest: (field: string, message: string) => noAnswer('bad-request', message, { ...DID_NOT_RUN, field }),

  /** `ids`: the nodes along a circle. It would never end, and take one kind of client down with it. */
  cycle({ app, ruleId, confId }: JobData, ids: readonly bigint[]): NoAnswer {
    const named = ids.slice(0, CYCLE_NAMED_AT_MOST).join(' → ');
    const circle = ids.length > CYCLE_NAMED_AT_MOST ? `${named} → … (${ids.length} nodes)` : `${named} → ${ids[0]}`;
    const what = ruleId === null ? `Node ${confId}` : `Rule ${ruleId}`;
    const sentence = `${what} of app ${app} runs in a circle: ${circle}. Take one of these out of the other's children or forward condition. It did not run.`;
    return noAnswer('cycle', sentence, DID_NOT_RUN);
  },

  clientFull: ({ address }: Client) =>
    noAnswer(
      'overloaded',
      `Client ${address} has as many executions open as it may (MAX_WAITS_PER_CLIENT). This one did not run. Try again in a moment.`,
      {
        ...DID_NOT_RUN,
        address,
      },
    ),

  /** `v`: the version of the job's data, which this worker cannot read. */
  tooNew: (v: number) =>
    noAnswer(
      'no-worker',
      `No worker can read the job of this execution: it is of version ${v}, and this one knows those up to ${JOB_VERSION}. It did not run. Replace the workers first, then the APIs.`,
      { ...DID_NOT_RUN, unrecorded: true },
    ),

  unreadableJob: (mockId: string) =>
    noAnswer(
      'outcome-unknown',
      `No worker can read the job of execution ${mockId}, and it cannot be told whether an earlier one began it. It may have run; look at the client.`,
      { mayHaveRun: true, unrecorded: true },
    ),

  unreadableClaim: (mockId: string) =>
    noAnswer(
      'outcome-unknown',
      `It cannot be told whether execution ${mockId} was begun: its note in .rule-server/claims cannot be read, or is kept no longer. It may have run; look at the client.`,
      {
        mayHaveRun: true,
      },
    ),

  /** The request could not be written, so nobody saw it; undefined for errors that say nothing about the directory. */
  channelUnavailable(error: unknown, { address, app, directoryName }: Client): NoAnswer | undefined {
    const reason = error instanceof ForeignPath ? 'it is not a directory of its own' : REASONS.get(errnoOf(error));
    if (reason === undefined) return undefined;
    const sentence = `The request for client ${address} could not be written to mock/${app}/${directoryName}: ${reason}. It did not run.`;
    return noAnswer('channel-unavailable', sentence, { ...DID_NOT_RUN, address });
  },

  /** Nobody can be chosen; undefined for errors that say nothing about the directory. */
  clientsUnreadable(error: unknown, app: number): NoAnswer | undefined {
    const reason = error instanceof ForeignPath ? 'a link stands in their way' : REASONS.get(errnoOf(error));
    if (reason === undefined) return undefined;
    const sentence = `The clients of app ${app} could not be looked up in clients/${app} and mock/${app}: ${reason}. It did not run.`;
    return noAnswer('channel-unavailable', sentence, DID_NOT_RUN);
  },

  /** Without a claim nothing may be written for a client; undefined for errors that say nothing about the directory. */
  claimsUnwritable(error: unknown): NoAnswer | undefined {
    const reason = errnoOf(error) === 'ENOENT' ? 'it is not there (is it still mounted?)' : REASONS.get(errnoOf(error));
    if (reason === undefined) return undefined;
    const sentence = `No execution can be noted in .rule-server/claims of the shared directory: ${reason}. It did not run.`;
    return noAnswer('channel-unavailable', sentence, DID_NOT_RUN);
  },

  cannotGoOn: ({ address, mockId }: Claim, error: unknown) =>
    noAnswer(
      'no-answer',
      `The wait for client ${address} on execution ${mockId} could not be finished (${errnoOf(error) || 'internal error'}). It may have run.`,
      {
        mayHaveRun: true,
        address,
      },
    ),
};

const REASONS = new Map([
  ['EACCES', 'the worker has no permission'],
  ['EPERM', 'the worker has no permission'],
  ['EROFS', 'it is read-only'],
  ['ENOSPC', 'the disk is full'],
  ['EDQUOT', 'the quota is used up'],
  ['EIO', 'the disk reports an error'],
  ['ENOTDIR', 'something that is no directory is in the way'],
  ['ENAMETOOLONG', 'its name is too long'],
]);
