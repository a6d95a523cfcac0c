import { sentences } from '../../shared/contract/sentences.ts';
import { dialects } from '../dialects/dialects.ts';
import { removeRequest, resultPath, withdraw } from '../files/execution-files.ts';
import { type FoundResult, readResult } from '../files/result-file.ts';
import type { Sight } from '../files/unusable-result.ts';
import { keepMadeDirectory } from './notice-pick-up.ts';
import type { Wait, WaitEnding } from './wait.ts';

/** A result that this worker could not read is tried again so soon: the client has done its part. */
const UNREADABLE_AGAIN_MS = 250;

type Present = Extract<FoundResult, { kind: 'present' }>;

/**
 * Reads the result file, unless it is known not to be a result. Ends the wait with an answer, or with what is wrong for good.
 */
export async function lookForAnswer(
  wait: Wait,
  { lastLook = false, sight }: { lastLook?: boolean; sight?: Sight } = {},
): Promise<WaitEnding | undefined> {
  const found = await readResultOf(wait, resultPath(wait.files), { lastLook, sight });
  if (found.kind === 'absent') wait.unusable.forget();
  if (found.kind === 'unreadable' && wait.unreadable === null) wait.parts.onUnreadable();
  if (found.kind !== 'skipped') wait.unreadable = found.kind === 'unreadable' ? found.code : null;
  if (found.kind === 'unreadable') wait.later(UNREADABLE_AGAIN_MS, { kind: 'result' });
  return (found.kind === 'present' ? await accept(wait, found) : undefined) ?? endIfWrongForGood(wait);
}

/** Takes an answer; anything else is noted and may become one. */
export async function accept(
  wait: Wait,
  { judgement, stamp, writtenAt, lease }: Present,
): Promise<WaitEnding | undefined> {
  if (judgement.kind !== 'answer') {
    lease.release();
    wait.unusable.note(stamp, judgement);
    return undefined;
  }
  const { claim, files, parts } = wait;
  try {
    if (!wait.pickedUp && (await removeRequest(files))) {
      const who = { mockId: claim.mockId, app: claim.app, address: claim.address };
      parts.log.warn(who, 'the client does not delete its requests; it may run them again');
    }
    await keepMadeDirectory(wait);
    const { body, success, decision } = judgement;
    return { kind: 'answered', answer: { body, success, decision, answeredAt: writtenAt, lease } };
  } catch (error) {
    lease.release();
    throw error;
  }
}

/** Reads a file that may hold the answer; `lastLook`: also one that looks as it did before; `always`: whatever it looks like. */
export function readResultOf(
  wait: Wait,
  path: string,
  { lastLook = false, always = false, sight }: { lastLook?: boolean; always?: boolean; sight?: Sight | undefined } = {},
): Promise<FoundResult> {
  const { claim, inbox, unusable, parts } = wait;
  const { memory, settings } = parts;
  const dialect = dialects[claim.dialect];
  const expected = { mockId: claim.mockId, dialect, maxBytes: settings.MAX_RESULT_BYTES, memory };
  return inbox.reading((signal) =>
    readResult(path, expected, {
      signal,
      sight,
      isWorthIt: (seen) => always || unusable.mayBeNews(seen, { lastLook }),
    }),
  );
}

/** A file that has been wrong and unchanged for a while will not become a result. */
async function endIfWrongForGood(wait: Wait): Promise<WaitEnding | undefined> {
  const { unusable, files, claim } = wait;
  const remaining = unusable.wrongForGoodInMs;
  if (remaining === undefined) return undefined;
  if (remaining > 0) return void wait.later(remaining, { kind: 'result' });
  await withdraw(files, claim);
  await keepMadeDirectory(wait);
  return { kind: 'unanswered', noAnswer: sentences.invalidResult(claim, unusable) };
}
