import { lstat } from 'node:fs/promises';
import type { Decision, JobResult } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { unless } from '../../shared/runtime/errno.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { dialects } from '../dialects/dialect.ts';
import type { Claim } from '../files/claim.ts';
import { registrationPath, requestFileName, resultFileName } from '../files/file-names.ts';
import type { KeptAnswers } from '../files/kept-answers.ts';
import type { Room } from '../files/memory-budget.ts';
import {
  isRequestThere,
  keepDirectory,
  markOpen,
  type Place,
  removeOpenMark,
  removeRequest,
  resultPath,
  wasWithdrawn,
  withdraw,
} from '../files/request-file.ts';
import { type ReadResult, withResult } from '../files/result-file.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import { createUnusableResult, type Sight } from '../files/unusable-result.ts';
import type { Listing, ResultWatcher, Sighting } from '../files/watcher.ts';
import { createUnanswered } from '../unanswered.ts';
import type { Interrupt, Interrupts } from './interrupts.ts';
import type { ProgressReports } from './progress.ts';

/** What the client wrote, to the letter. */
export type Answer = { body: string; success: boolean; decision: Decision | null; answeredAt: number };

/** How the wait for one answer ended. `interrupted`: not at all, another worker goes on with it. */
export type WaitEnding =
  | { kind: 'answered'; result: JobResult }
  | { kind: 'unanswered'; noAnswer: NoAnswer }
  | { kind: 'interrupted'; by: 'handover' | 'lock-lost' };

/** An execution that is still open after so long is marked as open: until then its request keeps the directory from being empty. */
const MARK_OPEN_MS = 25;
/** An instant client has answered by then, and nobody needs to know when it picked up. */
const REQUEST_LOOK_MS = 25;
/** A client that stops removes its directory just before its registration: it takes a moment to tell. */
const MISSING_FOR_MS = 500;

export type WaitDependencies = {
  watcher: ResultWatcher;
  keptAnswers: KeptAnswers;
  /** What the job will end with. A large text is not in memory any more. */
  toJobResult: (claim: Claim, answer: Answer) => Promise<JobResult>;
  room: Room;
  sharedDirectory: SharedDirectory;
  interrupts: Interrupts;
  progress: ProgressReports;
  atStep: (step: 'picked-up', mockId: string) => Promise<void> | void;
  maxResultBytes: number;
  resultTimeoutMs: number;
  clientTimeoutMs: number;
  log: Logger;
};

/** Waits until the client answered, cannot answer any more, or time is up. `dispatchRequest` runs once everything watches. */
export function waitForAnswer(
  claim: Claim,
  place: Place,
  dispatchRequest: () => Promise<'dispatched' | 'was-dispatched'>,
  dependencies: WaitDependencies,
): Promise<WaitEnding> {
  const { watcher, keptAnswers, toJobResult, room, sharedDirectory, interrupts, progress, atStep, log } = dependencies;
  const { maxResultBytes, resultTimeoutMs, clientTimeoutMs } = dependencies;
  const { mockId, address } = claim;
  const unanswered = createUnanswered(claim, resultTimeoutMs);

  return new Promise((resolve, reject) => {
    let ended = false;
    let pickedUp = false;
    let missingSince: number | undefined;
    const unusable = createUnusableResult();
    let looking: Promise<void> | undefined;
    let lookAgain = false;
    let requestLookPlanned = false;
    let marked: Promise<void> | undefined;
    const timers = new Set<NodeJS.Timeout>();
    const expected = {
      mockId,
      dialect: dialects[claim.dialect],
      maxBytes: maxResultBytes,
      room,
      isOver: () => ended,
    };

    const after = (ms: number, task: () => Promise<void> | void) => {
      if (ended) return;
      const timer = setTimeout(() => {
        timers.delete(timer);
        guard(task);
      }, ms);
      timers.add(timer);
    };
    const guard = (task: () => Promise<void> | void) => {
      if (!ended) Promise.resolve().then(task).catch(fail);
    };
    const close = () => {
      ended = true;
      stopWatching();
      stopInterrupts();
      for (const timer of timers) clearTimeout(timer);
    };
    const end = (ending: WaitEnding) => {
      if (ended) return;
      close();
      // Who goes on with an interrupted wait needs the mark, and must not be overtaken by it; else what fails here is left
      // to the sweep.
      if (ending.kind === 'interrupted') return void Promise.resolve(marked).finally(() => resolve(ending));
      marked?.then(() => removeOpenMark(place)).catch(() => {});
      resolve(ending);
    };
    const fail = (error: unknown) => {
      if (ended) return;
      close();
      reject(error);
    };
    const giveUp = (noAnswer: NoAnswer) => end({ kind: 'unanswered', noAnswer });

    const registration = claim.registered ? registrationPath(sharedDirectory.sharedDir, claim) : null;
    const stopWatching = watcher.watch({ directory: place.directory, registration }, mockId, notice);
    const stopInterrupts = interrupts.listen(mockId, (interrupt) => guard(() => interrupted(interrupt)));
    guard(async () => {
      // Where other servers clean up, a directory must not be empty for a moment.
      const marksFirst = claim.registered && claim.dialect === 'ice';
      if (marksFirst) await mark();
      const dispatched = await dispatchRequest();
      progress.reached(mockId, address, 'dispatched');
      if (claim.registered && !marksFirst) {
        if (dispatched === 'was-dispatched') marked = Promise.resolve(); // by whoever dispatched it, perhaps
        after(dispatched === 'dispatched' ? MARK_OPEN_MS : 0, mark);
      }
      if (dispatched === 'was-dispatched') await goOn();
      after(Math.max(0, claim.answerBy - Date.now()), timeIsUp);
    });

    /** Another attempt dispatched: the answer may be there since before we watched, or kept, or the request was taken back. */
    async function goOn(): Promise<void> {
      await look();
      for (const path of keptAnswers.placesOf(mockId)) {
        if (!ended)
          await withResult(path, expected, async (kept) => {
            if (kept.kind === 'present' && kept.judgement.kind === 'answer') await judge(kept);
          });
      }
      if (ended || unusable.problem || !(await wasWithdrawn(place))) return;
      if (Date.now() >= claim.answerBy) return giveUp(unanswered.notPickedUp());
      const left = registration !== null && !(await lstat(registration).catch(unless('ENOENT')));
      giveUp(left ? unanswered.leftBeforePickUp() : unanswered.cancelledBeforePickUp());
    }

    function notice(sighting: Sighting): void {
      if (sighting.kind === 'result-event') guard(look);
      else if (sighting.kind === 'listing') guard(() => readListing(sighting));
      else if (!pickedUp && !requestLookPlanned) {
        requestLookPlanned = true;
        after(REQUEST_LOOK_MS, lookAtRequest);
      }
    }

    /** Reads the result file. Looks that come while one is under way are made up for by one more. */
    async function look(): Promise<void> {
      lookAgain = true;
      looking ??= (async () => {
        while (lookAgain && !ended) {
          lookAgain = false;
          await read();
        }
      })().finally(() => {
        looking = undefined;
      });
      await looking;
    }

    /** Reads the result file, unless it is known not to be one. */
    async function read({ lastLook = false } = {}): Promise<void> {
      const isWorthIt = (sight: Sight) => unusable.mayBeNews(sight, { lastLook });
      await withResult(resultPath(place), { ...expected, isWorthIt }, judge);
      const remaining = unusable.wrongForGoodInMs;
      if (ended || remaining === undefined) return;
      if (remaining > 0) return after(remaining, look);
      await withdraw(place, claim);
      await keepMadeDirectory();
      giveUp(unanswered.invalidResult(unusable.problem ?? ''));
    }

    async function judge(result: ReadResult): Promise<void> {
      if (result.kind === 'absent') return unusable.forget();
      if (ended) return;
      const { judgement, stamp, writtenAt } = result;
      if (judgement.kind !== 'answer') return unusable.note(stamp, judgement);
      if (!pickedUp && (await removeRequest(place))) {
        log.warn({ mockId, app: claim.app, address }, 'the client does not delete its requests; it may run them again');
      }
      await keepMadeDirectory();
      const { body, success, decision } = judgement;
      end({ kind: 'answered', result: await toJobResult(claim, { body, success, decision, answeredAt: writtenAt }) });
    }

    async function mark(): Promise<void> {
      if (ended) return; // nobody would remove it
      marked = markOpen(place).catch(unless('ENOENT')); // the next listing sees that the directory is missing
      await marked;
    }

    async function lookAtRequest(): Promise<void> {
      requestLookPlanned = false;
      if (pickedUp || (await isRequestThere(place))) return;
      // Only a directory that is still there tells that the client took the request out of it.
      if (await lstat(place.directory).catch(unless('ENOENT'))) await pickUp();
    }

    async function pickUp(): Promise<void> {
      if (pickedUp) return;
      pickedUp = true;
      progress.reached(mockId, address, 'picked-up');
      await atStep('picked-up', mockId);
      log.debug({ mockId, app: claim.app, address }, 'picked up');
      await keepMadeDirectory();
    }

    /** Somebody came to the directory that was made for this execution. */
    async function keepMadeDirectory(): Promise<void> {
      if (claim.madeDirectory) await keepDirectory(place.directory);
    }

    async function readListing({ names, registered }: Listing): Promise<void> {
      if (names === null) return directoryMissing(registered);
      missingSince = undefined;
      if (!names.has(requestFileName(mockId)) && !names.has(claim.temporary)) await lookAtRequest();
      if (names.has(resultFileName(mockId))) await look();
      else if (!registered && !wasTakenForDead()) await clientLeft();
    }

    async function directoryMissing(registered: boolean): Promise<void> {
      missingSince ??= Date.now();
      if (Date.now() - missingSince < MISSING_FOR_MS && !wasTakenForDead()) return;
      if (!claim.registered || !(registered || wasTakenForDead())) return clientLeft();
      // The client lives, but does not make its directory again; without it the answer has nowhere to go.
      sharedDirectory.forget(place.directory);
      await sharedDirectory.clientDirectory(claim.app, claim.directoryName);
      await mark();
    }

    /**
     * The published SDKs cannot beat while they run. Another server takes one that runs for long for dead, and removes its
     * registration and directory under it; when it is done it registers again.
     */
    function wasTakenForDead(): boolean {
      const dispatchedAt = claim.answerBy - resultTimeoutMs;
      return claim.dialect === 'ice' && pickedUp && Date.now() - dispatchedAt > clientTimeoutMs / 2;
    }

    async function clientLeft(): Promise<void> {
      await look();
      if (ended || !(await sharedDirectory.isThere())) return;
      if (!pickedUp && (await withdraw(place, claim))) return giveUp(unanswered.leftBeforePickUp());
      giveUp(unanswered.left());
    }

    async function timeIsUp(): Promise<void> {
      await read({ lastLook: true });
      if (ended) return;
      const withdrawn = !pickedUp && (await withdraw(place, claim));
      if (unusable.problem) {
        await keepMadeDirectory();
        return giveUp(unanswered.invalidToTheEnd(unusable.problem));
      }
      giveUp(withdrawn ? unanswered.notPickedUp() : unanswered.noAnswer());
    }

    async function interrupted(interrupt: Interrupt): Promise<void> {
      if (interrupt === 'handover' || interrupt === 'lock-lost') return end({ kind: 'interrupted', by: interrupt });
      const withdrawn = !pickedUp && (await withdraw(place, claim));
      if (!withdrawn) await pickUp();
      if (withdrawn) return giveUp(unanswered.cancelledBeforePickUp());
      if (interrupt === 'caller-left') return; // the rule runs; its answer belongs in the history
      giveUp(unanswered.cancelledAfterPickUp());
    }
  });
}
