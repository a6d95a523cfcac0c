import { sentences } from '../../shared/contract/sentences.ts';
import { time } from '../../shared/seams/time.ts';
import { findRegistration } from '../clients/find-registration.ts';
import { dialects } from '../dialects/dialects.ts';
import { withdraw } from '../files/execution-files.ts';
import { openFileName, requestFileName, resultFileName } from '../files/file-names.ts';
import type { Listing } from '../files/watched-directory.ts';
import { lookForAnswer } from './look-for-answer.ts';
import { markAsOpen } from './mark.ts';
import { lookAtRequest, pickUp } from './notice-pick-up.ts';
import { GONE_AFTER_MS, REQUEST_LOOK_MS, type Wait, type WaitEnding } from './wait.ts';

/** Reads from a listing of the client's directory what no event told. */
export async function readListing(wait: Wait, { names, registered }: Listing): Promise<WaitEnding | undefined> {
  const { claim, pickedUp } = wait;
  const isGone = !seemsThere(wait, registered);
  if (names === null) return directoryMissing(wait, isGone);
  wait.directoryAway.there();
  const requestIsGone = !names.has(requestFileName(claim.mockId)) && !names.has(claim.temporary);
  if (requestIsGone && !pickedUp) await noteRequestGone(wait, names);
  if (names.has(resultFileName(claim.mockId))) return lookForAnswer(wait);
  return isGone ? clientLeft(wait) : undefined;
}

/**
 * With our mark beside it, a missing request was picked up: some file systems still show a removed file by its name when the
 * listing has it no more. Where the mark comes before the dispatch, a listing may also miss a file that is just being renamed.
 */
async function noteRequestGone(wait: Wait, names: ReadonlySet<string>): Promise<void> {
  const { mockId } = wait.claim;
  const isSure = names.has(openFileName(mockId)) && !wait.marksFirst && !wait.requestRemoved;
  if (isSure) await pickUp(wait);
  else wait.later(REQUEST_LOOK_MS, { kind: 'request' });
}

/** A client that registers again, or moves to another lane, has no registration for a moment. */
function seemsThere(wait: Wait, registered: boolean): boolean {
  if (!registered && !wasTakenForDead(wait)) return wait.registrationAway.awayMs() < GONE_AFTER_MS;
  wait.registrationAway.there();
  return true;
}

async function directoryMissing(wait: Wait, isGone: boolean): Promise<WaitEnding | undefined> {
  const { claim, files, parts } = wait;
  if (wait.directoryAway.awayMs() < GONE_AFTER_MS && !wasTakenForDead(wait)) return undefined;
  if (!wait.pickedUp) wait.requestRemoved = true;
  if (!claim.registered || isGone) return clientLeft(wait);
  // The client lives, but does not make its directory again; without it the answer has nowhere to go.
  parts.sharedDirectory.forget(files.directory);
  await parts.sharedDirectory.clientDirectory(claim.app, claim.directoryName);
  await markAsOpen(wait);
}

/**
 * The published SDKs cannot beat while they run. Another server takes one that runs for long for dead, and removes its
 * registration and directory under it; when it is done it registers again.
 */
function wasTakenForDead({ claim, pickedUp, parts }: Wait): boolean {
  const { RESULT_TIMEOUT_MS, CLIENT_TIMEOUT_MS } = parts.settings;
  const runningMs = time.now() - (claim.answerBy - RESULT_TIMEOUT_MS);
  return dialects[claim.dialect].isSilentWhileRunning && pickedUp && runningMs > CLIENT_TIMEOUT_MS / 2;
}

/** Ends the wait unless the client answered before it left, moved to another lane, or the whole shared directory is away. */
async function clientLeft(wait: Wait): Promise<WaitEnding | undefined> {
  const { claim, files, inbox, parts } = wait;
  const ending = await lookForAnswer(wait);
  if (ending) return ending;
  if (!(await inbox.reading(() => parts.sharedDirectory.isThere()))) return undefined;
  if (claim.registered && (await inbox.reading(() => findRegistration(parts.sharedDirectory.sharedDir, claim)))) {
    wait.registrationAway.there();
    return undefined;
  }
  if (!wait.pickedUp && (await withdraw(files, claim)))
    return { kind: 'unanswered', noAnswer: sentences.leftBeforePickUp(claim) };
  await lookAtRequest(wait);
  return { kind: 'unanswered', noAnswer: wait.pickedUp ? sentences.left(claim) : sentences.requestRemoved(claim) };
}
