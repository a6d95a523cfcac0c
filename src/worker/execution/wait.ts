import type { Decision } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Settings } from '../../shared/runtime/settings.ts';
import { type Timer, time } from '../../shared/seams/time.ts';
import { dialects } from '../dialects/dialects.ts';
import type { Claim } from '../files/claim.ts';
import type { Claims } from '../files/claims.ts';
import { type ExecutionFiles, filesOf } from '../files/execution-files.ts';
import { registrationPath } from '../files/file-names.ts';
import type { Flush } from '../files/flush.ts';
import type { KeptAnswers } from '../files/kept-answers.ts';
import type { Lease, MemoryBudget } from '../files/memory-budget.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import { createUnusableResult } from '../files/unusable-result.ts';
import type { ResultWatcher } from '../files/watcher.ts';
import type { ClientSlots } from '../placement/client-slots.ts';
import { type Absence, createAbsence } from './absence.ts';
import { createInbox, type Inbox, type WaitEvent } from './inbox.ts';
import type { Interrupts } from './interrupts.ts';
import type { ProgressReports } from './progress.ts';
import type { AtStep } from './steps.ts';

/** The text that the client wrote, to the letter, and the memory it takes up until it was passed on. */
export type Answer = { body: string; success: boolean; decision: Decision | null; answeredAt: number; lease: Lease };

/** How the wait for one answer ended. `interrupted`: not at all, another worker goes on with it. */
export type WaitEnding =
  | { kind: 'answered'; answer: Answer }
  | { kind: 'unanswered'; noAnswer: NoAnswer }
  | { kind: 'interrupted' };

/** The parts that all waits of a worker share. */
export type WaitParts = {
  watcher: ResultWatcher;
  keptAnswers: KeptAnswers;
  claims: Pick<Claims, 'folderOf'>;
  flush: Flush;
  memory: MemoryBudget;
  sharedDirectory: SharedDirectory;
  slots: ClientSlots;
  interrupts: Interrupts;
  progress: ProgressReports;
  atStep: AtStep;
  /** A result is there that this worker cannot read. */
  onUnreadable: () => void;
  settings: Settings;
  log: Logger;
};

/** One execution between its dispatch and its ending: what is known about it so far. */
export type Wait = {
  readonly claim: Claim;
  readonly files: ExecutionFiles;
  /** The registration the client has as long as it lives; null for one that is only a directory. */
  readonly registration: string | null;
  readonly inbox: Inbox;
  readonly parts: WaitParts;
  /** The file that lies where the result belongs and is none. */
  readonly unusable: ReturnType<typeof createUnusableResult>;
  /** Why this worker could not read the result the last time; null when it could. */
  unreadable: string | null;
  readonly directoryAway: Absence;
  readonly registrationAway: Absence;
  pickedUp: boolean;
  /** This attempt renamed the request. If it did not, another one may have. */
  dispatchedHere: boolean;
  /** The request went with its directory, or with its mark: that it is gone does not tell that it was picked up. */
  requestRemoved: boolean;
  mark: 'none' | 'written' | 'failed';
  /** Whether the request is looked at as soon as the mark is written. */
  looksOnceMarked: boolean;
  /** The mark is written before the request is seen, so that a cleaner never finds the directory empty. */
  readonly marksFirst: boolean;
  /** Puts an event into the inbox after `ms`. Of several of one kind the earliest counts. */
  later(ms: number, event: WaitEvent & { kind: 'result' | 'request' | 'mark' | 'deadline' }): void;
  close(): void;
};

/** Only a client that has been away for this long has left: one that stops removes its files one after the other. */
export const GONE_AFTER_MS = 500;
/** An instant client has answered by then, and the wait need not find out when it picked up. */
export const REQUEST_LOOK_MS = 25;

/** Begins to watch for everything that can happen to an execution. The caller closes it. */
export function openWait(claim: Claim, parts: WaitParts): Wait {
  const { watcher, interrupts, slots, sharedDirectory } = parts;
  const files = filesOf(sharedDirectory.sharedDir, claim);
  const registration = claim.registered ? registrationPath(sharedDirectory.sharedDir, claim) : null;
  const inbox = createInbox();
  const timers = createTimers(inbox);
  const stopWatching = watcher.watch({ directory: files.directory, registration }, claim.mockId, (sighting) => {
    if (sighting.kind === 'listing') inbox.put(sighting);
    else if (sighting.kind !== 'request-event') inbox.put({ ...sighting, kind: 'result' });
    else if (!wait.pickedUp) wait.later(REQUEST_LOOK_MS, { kind: 'request' });
  });
  const stopInterrupts = interrupts.listen(claim.mockId, (interrupt) => inbox.put({ kind: 'interrupt', interrupt }));
  slots.occupy(files.directory);

  const wait: Wait = {
    ...{ claim, files, registration, inbox, parts },
    unusable: createUnusableResult(),
    unreadable: null,
    directoryAway: createAbsence(),
    registrationAway: createAbsence(),
    pickedUp: false,
    dispatchedHere: false,
    requestRemoved: false,
    mark: 'none',
    looksOnceMarked: false,
    marksFirst: claim.registered && (dialects[claim.dialect].isSharedWithCleaners || sharedDirectory.hasOtherServer()),
    later: timers.later,
    close() {
      stopWatching();
      stopInterrupts();
      timers.clear();
      slots.release(files.directory);
    },
  };
  return wait;
}

function createTimers(inbox: Inbox) {
  const timers = new Map<string, { at: number; timer: Timer }>();
  return {
    later(ms: number, event: WaitEvent): void {
      const at = time.monotonic() + ms;
      const earlier = timers.get(event.kind);
      if (earlier && earlier.at <= at) return;
      time.clearTimeout(earlier?.timer);
      const timer = time.setTimeout(() => {
        timers.delete(event.kind);
        inbox.put(event);
      }, ms);
      timers.set(event.kind, { at, timer });
    },
    clear: () => {
      for (const { timer } of timers.values()) time.clearTimeout(timer);
    },
  };
}
