import { sentences } from '../../shared/contract/sentences.ts';
import { time } from '../../shared/seams/time.ts';
import { wasWithdrawn } from '../files/execution-files.ts';
import { isRegistered } from '../files/registration-file.ts';
import { accept, lookForAnswer, readResultOf } from './look-for-answer.ts';
import type { Wait, WaitEnding } from './wait.ts';

/**
 * Another attempt dispatched: the answer may be there since before we watched, or be kept elsewhere since the job was
 * completed, or the request was taken back.
 */
export async function resume(wait: Wait): Promise<WaitEnding | undefined> {
  const ending = (await lookForAnswer(wait)) ?? (await lookAmongKept(wait));
  const { claim, files, inbox, unusable } = wait;
  if (ending || unusable.problem || !(await inbox.reading(() => wasWithdrawn(files)))) return ending;
  return { kind: 'unanswered', noAnswer: await whyWithdrawn(wait, claim.answerBy) };
}

async function lookAmongKept(wait: Wait): Promise<WaitEnding | undefined> {
  for (const path of wait.parts.keptAnswers.pathsOf(wait.claim.mockId)) {
    const kept = await readResultOf(wait, path, { always: true });
    if (kept.kind !== 'present') continue;
    if (kept.judgement.kind === 'answer') return accept(wait, kept);
    kept.lease.release();
  }
  return undefined;
}

async function whyWithdrawn({ claim, registration, inbox, parts }: Wait, answerBy: number) {
  if (time.now() >= answerBy) return sentences.notPickedUp(claim, parts.settings.RESULT_TIMEOUT_MS);
  const left = registration !== null && !(await inbox.reading(() => isRegistered(registration)));
  return left ? sentences.leftBeforePickUp(claim) : sentences.cancelledBeforePickUp(claim);
}
