import { unless } from '../../shared/runtime/errno.ts';
import { isMarkThere, isRequestThere, keepDirectory } from '../files/execution-files.ts';
import { lstat } from '../seams/files.ts';
import type { Wait } from './wait.ts';

/** Looks whether the client took the request. */
export async function lookAtRequest(wait: Wait): Promise<void> {
  if (wait.pickedUp || wait.requestRemoved) return;
  // Without its mark nothing tells why the request of a registered client is gone.
  wait.looksOnceMarked = wait.claim.registered && wait.mark === 'none';
  if (wait.looksOnceMarked) return;
  const seen = await wait.inbox.reading(() => whereIsRequest(wait));
  if (seen === 'picked-up') await pickUp(wait);
  if (seen === 'removed') wait.requestRemoved = true;
}

/** Notes once, and tells, that the client took the request. */
export async function pickUp(wait: Wait): Promise<void> {
  if (wait.pickedUp) return;
  wait.pickedUp = true;
  const { mockId, app, address } = wait.claim;
  const { progress, atStep, log } = wait.parts;
  progress.reached(mockId, address, 'picked-up');
  await atStep('picked-up', mockId);
  log.debug({ mockId, app, address }, 'picked up');
  await keepMadeDirectory(wait);
}

/** A client came to the directory that was made for this execution: from now on it is the client's. */
export async function keepMadeDirectory({ claim, files }: Wait): Promise<void> {
  if (claim.madeDirectory) await keepDirectory(files.directory);
}

/** Clients delete the request and nothing else, so a request that went together with our mark was not picked up. */
async function whereIsRequest({ files, claim, mark }: Wait) {
  if (await isRequestThere(files)) return 'there';
  if (mark === 'written') return (await isMarkThere(files)) ? 'picked-up' : 'removed';
  if (claim.registered) return 'unknown';
  // Without a mark, only a directory that is still there tells that the client took the request out of it.
  return (await lstat(files.directory).catch(unless('ENOENT'))) ? 'picked-up' : 'unknown';
}
