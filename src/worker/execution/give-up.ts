import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { sentences } from '../../shared/contract/sentences.ts';
import { resultWithin } from '../../shared/runtime/at-most.ts';
import type { Cancel } from '../../shared/store/control.ts';
import { withdraw } from '../files/execution-files.ts';
import { explained } from '../reasons.ts';
import { lookForAnswer } from './look-for-answer.ts';
import { keepMadeDirectory, pickUp } from './notice-pick-up.ts';
import type { Wait, WaitEnding } from './wait.ts';

/** A directory that does not respond for this long after the deadline is not waited for; the API waits a little longer. */
const HANGS_AFTER_MS = 4000;

/** The client's time is over: looks once more, takes the request back if it is still there, and says what was missing. */
export async function timeIsUp(wait: Wait): Promise<WaitEnding> {
  const lastLook = lookOnceMore(wait);
  const late = (): WaitEnding => {
    lastLook.then(discard, () => {}); // what it still finds is kept as a late result
    return { kind: 'unanswered', noAnswer: sentences.directoryHangs(wait.claim) };
  };
  return resultWithin(HANGS_AFTER_MS, { of: lastLook, late });
}

function discard(ending: WaitEnding): void {
  if (ending.kind === 'answered') ending.answer.lease.release();
}

async function lookOnceMore(wait: Wait): Promise<WaitEnding> {
  const ending = await lookForAnswer(wait, { lastLook: true });
  if (ending) return ending;
  const withdrawn = !wait.pickedUp && (await withdraw(wait.files, wait.claim));
  if (wait.unusable.problem) await keepMadeDirectory(wait);
  return { kind: 'unanswered', noAnswer: whatWasMissing(wait, withdrawn) };
}

function whatWasMissing({ claim, unusable, unreadable, requestRemoved, parts }: Wait, withdrawn: boolean): NoAnswer {
  const { RESULT_TIMEOUT_MS } = parts.settings;
  if (unreadable !== null) return sentences.unreadableResult(claim, explained(unreadable), RESULT_TIMEOUT_MS);
  if (unusable.problem) return sentences.invalidToTheEnd(claim, unusable, RESULT_TIMEOUT_MS);
  if (withdrawn) return sentences.notPickedUp(claim, RESULT_TIMEOUT_MS);
  return requestRemoved
    ? sentences.silentAfterRemoval(claim, RESULT_TIMEOUT_MS)
    : sentences.silent(claim, RESULT_TIMEOUT_MS);
}

/** Takes the request back. If the client has it and only its caller left, the wait goes on: the answer belongs in the history. */
export async function cancelled(wait: Wait, why: Cancel['why']): Promise<WaitEnding | undefined> {
  const { claim, files } = wait;
  if (!wait.pickedUp && (await withdraw(files, claim)))
    return { kind: 'unanswered', noAnswer: sentences.cancelledBeforePickUp(claim) };
  if (!wait.requestRemoved) await pickUp(wait);
  if (why === 'caller-left') return undefined;
  return { kind: 'unanswered', noAnswer: sentences.cancelledAfterPickUp(claim) };
}
