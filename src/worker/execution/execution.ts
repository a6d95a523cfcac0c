import { type Ending, unanswered } from '../../shared/contract/endings/ending.ts';
import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { JobData, Warning } from '../../shared/contract/job.ts';
import type { Claim, ClaimKey } from '../files/claims/claim.ts';

/** One execution as a worker takes it: the job's id and data. */
export type Execution = {
  mockId: string;
  data: JobData;
  /** Epoch ms of when this worker took the job. */
  takenAt: number;
  /** Whether the queue says that no worker began it before. It may have forgotten: only a claim tells for sure. */
  firstAttempt: boolean;
  /** Whether there is time left to put it back and try again. */
  mayWait: boolean;
};

/**
 * An execution that may be dispatched. `beside`: what is done beside the wait, once it was dispatched; resolves to what its caller should
 * know. `repeated`: where its claim is, if an earlier call under
 * its Idempotency-Key wrote it, which the queue store has forgotten.
 */
export type Claimed = {
  kind: 'claimed';
  claim: Claim;
  beside: () => Promise<Warning[]>;
  repeated?: ClaimKey | undefined;
};
/**
 * An execution that goes back to the queue. `give-back`: at once, for another worker or a later try. `snooze`: for a while,
 * because too many wait for its client. `newer`: until a worker of a newer version takes it, because one began it.
 */
export type Postponed = { kind: 'give-back' | 'snooze' | 'newer' };

/** An execution that ended here. `marked`: its `.open` mark may be in the client's directory. */
export type Ended = { kind: 'ended'; ending: Ending; claim: Claim | null; marked: boolean };

/** The end of an execution in this worker. */
export type Outcome = Ended | Postponed;

/** An execution that ended without an answer: before it was claimed, or because a claimed one could not be finished. */
export function endedWithout(noAnswer: NoAnswer, claim: Claim | null = null): Ended {
  return { kind: 'ended', ending: unanswered(noAnswer), claim, marked: claim !== null };
}
