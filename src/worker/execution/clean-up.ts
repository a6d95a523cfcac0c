import type { Ending } from '../../shared/contract/ending.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import type { Claim } from '../files/claim.ts';
import type { Mailbox } from '../files/mailbox.ts';
import type { Ended } from './execution.ts';
import type { LateResults } from './late-results.ts';
import type { AtStep } from './steps.ts';

type Dependencies = {
  mailbox: Mailbox;
  lateResults: LateResults;
  atStep: AtStep;
  log: Logger;
};

export type CleanUp = ReturnType<typeof createCleanUp>;

/**
 * Removes the files of an execution once the queue accepted its ending. Answered: the answer is moved to the kept answers, then
 * the mark goes; the request went when the answer was read. Not answered: the request, the note of its withdrawal, an unusable
 * result, the directory we made, the mark, and the directory of a client that left; where an answer may still come, it is
 * looked out for. What fails here is left for the sweep.
 */
export function createCleanUp({ mailbox, lateResults, atStep, log }: Dependencies) {
  const alert = createThrottledAlert(log, 'Files cannot be removed');

  return async function cleanUp({ ending, claim, marked }: Ended): Promise<void> {
    if (!claim) return;
    try {
      await atStep('completed', claim.mockId);
      await removeAll(claim, ending, marked);
      await atStep('removed', claim.mockId);
      alert.ends();
    } catch (error) {
      alert.begins(error, 'they are left for the sweep');
    }
  };

  async function removeAll(claim: Claim, ending: Ending, marked: boolean): Promise<void> {
    // An answer was only taken once its request was gone; one that comes right now is a late one.
    if (ending.kind === 'answered') await mailbox.keepAnswer(claim);
    else await mailbox.remove(claim, { keepsResult: await mayStay(claim, ending) });
    if (marked) await mailbox.removeMark(claim);
    if (ending.kind === 'answered') return;
    await mailbox.removeIfLeft(claim);
    if (mayAnswerLate(ending)) lateResults.expect(claim);
  }

  /** Whether the file where the answer belongs is left there: it may be an answer, or become one. */
  async function mayStay(claim: Claim, ending: Ending): Promise<boolean> {
    const isInvalid = ending.kind === 'unanswered' && ending.noAnswer.code === 'invalid-result';
    return isInvalid ? lateResults.isAnswered(claim) : mayAnswerLate(ending);
  }
}

/** Whether the client may have the request, and answer it yet. */
function mayAnswerLate(ending: Ending): boolean {
  return ending.kind === 'unanswered' && ending.noAnswer.mayHaveRun;
}
