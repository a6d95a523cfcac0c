import { time } from '../../shared/seams/time.ts';
import type { Claim } from '../files/claim.ts';
import { type ExecutionFiles, renameRequest } from '../files/execution-files.ts';
import { filesLie } from '../files/quick-files.ts';
import { markAsOpen } from './mark.ts';
import { openWait, type Wait, type WaitParts } from './wait.ts';

/**
 * An execution is marked as open only after this time: until then its request keeps the directory from being empty.
 * Over a network every call takes longer than on this machine, and a mark costs it six trips.
 */
const MARK_OPEN_MS = { here: 25, elsewhere: 250 };

/** Watches, then makes the request visible: renaming the one file that the claim names is the dispatch. */
export async function dispatch(claim: Claim, claimBy: number, parts: WaitParts): Promise<Wait> {
  const wait = openWait(claim, parts);
  try {
    if (wait.marksFirst) await markAsOpen(wait);
    const isOurs = await renameOnce(wait, claimBy);
    if (isOurs) parts.progress.reached(claim.mockId, claim.address, 'dispatched');
    else wait.inbox.put({ kind: 'resumed' });
    wait.dispatchedHere = isOurs;
    if (claim.registered && !wait.marksFirst)
      wait.later(isOurs ? MARK_OPEN_MS[filesLie(wait.files.directory)] : 0, { kind: 'mark' });
    // `answerBy` is by the clock of the worker that claimed. If that clock was ahead, this worker still waits RESULT_TIMEOUT_MS at most.
    const left = Math.min(claim.answerBy - time.now(), parts.settings.RESULT_TIMEOUT_MS);
    wait.later(Math.max(0, left), { kind: 'deadline' });
    return wait;
  } catch (error) {
    wait.close();
    throw error;
  }
}

/** Whether this attempt dispatched: not when another one did, or when the wait is over before its request is seen. */
async function renameOnce({ claim, files, inbox, parts }: Wait, claimBy: number): Promise<boolean> {
  await parts.flush.beforeDispatch(files, claim, parts.claims.folderOf({ claimBy }));
  await parts.atStep('before-dispatch', claim.mockId);
  const isWanted = time.now() < claim.answerBy && !inbox.isInterrupted;
  const isOurs = isWanted && (await renameWhereItIs(files, claim, parts));
  if (isOurs) await parts.flush.dispatched(files);
  await parts.atStep('dispatched', claim.mockId);
  return isOurs;
}

/**
 * While the shared directory is away, the temporary file is not found although no attempt has dispatched it. Only a directory that
 * is there tells; while it is not, the job is tried again.
 */
async function renameWhereItIs(files: ExecutionFiles, claim: Claim, { sharedDirectory }: WaitParts): Promise<boolean> {
  if (await renameRequest(files, claim)) return true;
  await sharedDirectory.mustBeThere();
  return renameRequest(files, claim);
}
