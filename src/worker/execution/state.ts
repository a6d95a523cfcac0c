import type { NoAnswer } from '../../shared/contract/endings/no-answer.ts';
import type { Cancel } from '../../shared/queue/cancels.ts';
import type { Claim } from '../files/claims/claims.ts';
import type { FoundResult, Lease, ReadAnswer, Sight, UnusableResult } from '../files/results/result-file.ts';
import type { Listing } from '../files/watch.ts';

/**
 * One execution between its dispatch and its ending, as its worker sees it. `next.ts` is the machine: it takes a state and an event, and
 * says the next state and the effects. `drive.ts` runs it: it brings the events and does the effects. The states are those of the diagram
 * in ARCHITECTURE.md.
 */
export type State =
  /** The client can see the request, as far as this worker knows. */
  | (Waiting & {
      kind: 'dispatched';
      /** Look where the request is as soon as the mark is written: without its mark nothing tells why it is gone. */
      checksOnceMarked: boolean;
    })
  /** The request went with its directory, or with its mark: that does not tell that the client picked it up. */
  | (Waiting & { kind: 'vanished' })
  /** The client has the request. */
  | (Waiting & { kind: 'picked-up' })
  | { kind: 'over'; ending: WaitEnding; mark: Mark };

/** Known in each state in which the answer may still come. */
type Waiting = {
  /** The effect that is under way, with what it is for; null when nothing is. */
  doing: Doing | null;
  mark: Mark;
  /** When the client's directory, and its registration, were first seen to be gone: `Moment.monotonic`. Null while they are there. */
  directoryGoneAt: number | null;
  registrationGoneAt: number | null;
  /** The file at the result path, as long as it is not a valid result. */
  unusable: UnusableResult;
  /** Why this worker could not read the result the last time; null when it could. */
  unreadable: string | null;
};

/** The open mark in the client's directory. `failed`: it could not be written, because the directory is gone. */
export type Mark = 'none' | 'written' | 'failed';

/** The effect under way. A read is given up for an event that is more urgent than `event`, which is then handled again. A write never is. */
export type Doing = { event: WaitEvent } & (
  | { kind: 'reading result'; then: 'go on' | 'leave' | 'give up' | 'find earlier ending' }
  | { kind: 'finding earlier ending' }
  | { kind: 'finding client' }
  | { kind: 'finding request'; then: 'go on' | 'leave' }
  | { kind: 'withdrawing'; why: 'deadline' | 'client left' | 'invalid result' | Cancel['why'] }
  | { kind: 'taking answer'; answer: Answer }
  | { kind: 'marking' }
  | { kind: 'making directory' }
);

/** An answer, when its client wrote it, and the memory it takes up until it was passed on. */
export type Answer = ReadAnswer & { answeredAt: number; lease: Lease };

/** How the wait for one answer ended. `interrupted`: not at all, another worker goes on with it. */
export type WaitEnding =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'unanswered'; noAnswer: NoAnswer }
  | { kind: 'interrupted' };

/** When an event is handled: epoch ms by this worker's clock, and ms on a clock that only goes forward. */
export type Moment = { now: number; monotonic: number };

/** Something that happened to an execution, or is to be done about it. */
export type WaitEvent =
  /** Something was seen at the result path. */
  | { kind: 'result' }
  /** It is time to look where the request is; to write the mark. */
  | { kind: 'request' }
  | { kind: 'mark' }
  /** Another attempt dispatched: what it left is to be looked for. */
  | { kind: 'resumed' }
  | Listing
  | { kind: 'deadline' }
  | { kind: 'cancel'; why: Cancel['why'] }
  /** Another worker goes on with the execution. */
  | { kind: 'hand-over' }
  /** The last check took too long: the directory does not respond. */
  | { kind: 'hangs' }
  /** The effect under way ended. */
  | { kind: 'done'; outcome: EffectOutcome };

/** The result of an effect. */
export type EffectOutcome =
  | { kind: 'result'; found: FoundResult; sight: Sight | undefined }
  /** Whether an earlier attempt took the request back. */
  | { kind: 'earlier withdrawal'; found: { isRegistered: boolean } | null }
  | { kind: 'client'; is: 'here' | 'gone' | 'not known' }
  | { kind: 'request'; is: 'there' | 'picked up' | 'vanished' | 'not known' }
  | { kind: 'withdrawn'; isWithdrawn: boolean }
  | { kind: 'mark'; mark: 'written' | 'failed' }
  | { kind: 'done' };

/** Orders to the driver. Reads and writes end with `done`, one of them at a time; the others have no result. */
export type Effect =
  // reads
  | { kind: 'read result'; unusable: UnusableResult; isLastRead: boolean }
  | { kind: 'find earlier ending' }
  | { kind: 'find client' }
  | { kind: 'find request'; mark: Mark }
  // writes
  | { kind: 'withdraw'; keepsDirectory: boolean }
  | { kind: 'take answer'; removesRequest: boolean }
  | { kind: 'write mark' }
  | { kind: 'make directory' }
  // neither
  | { kind: 'tell of pick-up' }
  | { kind: 'find request in'; ms: number }
  | { kind: 'handle'; event: WaitEvent }
  | { kind: 'handle again'; event: WaitEvent }
  | { kind: 'release'; lease: Lease }
  | { kind: 'count unreadable result' };

/** Facts that do not change while an execution waits. */
export type Facts = {
  claim: Claim;
  /** Whether the mark is written before the request is seen, so that a cleaner never finds the directory empty. */
  marksFirst: boolean;
  resultTimeoutMs: number;
  clientTimeoutMs: number;
};
