import { join } from 'node:path';
import type { Warning } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { sentences } from '../../shared/contract/sentences.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { time } from '../../shared/seams/time.ts';
import type { Client } from '../clients/client.ts';
import { sdks } from '../dialects/sdks.ts';
import { CLAIM_VERSION, type Claim, type ClaimOrRefusal, UncertainClaim, UnknownClaim } from '../files/claim.ts';
import { removeIfNobodyCame, removeTemporary, writeTemporary } from '../files/execution-files.ts';
import { mockDirectory } from '../files/file-names.ts';
import type { Resolution } from '../placement/resolve-target.ts';
import { whyUnwritable } from '../reasons.ts';
import type { BeginParts } from './begin-parts.ts';
import type { Execution, Postponed } from './execution.ts';
import { refuse } from './refuse.ts';

/** What counts: a claim, ours or that of an attempt that was faster, or a refusal. `warnings` are about the client of our claim. */
export type Decided = ClaimOrRefusal & { warnings?: Warning[] };

type Chosen = Extract<Resolution, { kind: 'client' }>;

/** No request could be written for this client, so another one may get it. */
type Unwritable = { kind: 'unwritable'; noAnswer: NoAnswer };

/** The fault of one client's directory alone; a full disk is full for all of them. */
class UnwritableDirectory extends Error {}
const FULL = new Set(['ENOSPC', 'EDQUOT']);

/** Other servers remove empty directories: so one may have to be made again, up to this many times. */
const ATTEMPTS = 5;

/** Takes a slot at the chosen client, writes the request there, and claims the execution unless another attempt was first. */
export async function claimAtClient(
  chosen: Chosen,
  execution: Execution,
  parts: BeginParts,
): Promise<Decided | Postponed | Unwritable> {
  const { client } = chosen;
  const { inspections, interrupts } = parts;
  try {
    const inspection = await interrupts.unlessHandedOver(() => inspections.inspect(client, execution.data));
    if (inspection.kind === 'refused') return await refuse(inspection.noAnswer, execution, parts);
    const refused = await takeSlot(client, execution, parts);
    if (refused) return refused;
    chosen.uncount();
    const decision = await claimInSlot(chosen, execution, parts);
    const isOurs = decision.kind === 'claimed' && decision.claim.directoryName === client.directoryName;
    return isOurs ? { ...decision, warnings: [...chosen.warnings, ...inspection.warnings] } : decision;
  } finally {
    chosen.uncount();
  }
}

/** Undefined once the slot is taken. */
async function takeSlot(
  client: Client,
  execution: Execution,
  parts: BeginParts,
): Promise<ClaimOrRefusal | Postponed | undefined> {
  const { mockId, data, mayWait } = execution;
  const { slots, interrupts } = parts;
  const goOn = () => !interrupts.isCancelled(mockId) && !interrupts.handingOver;
  const slot = await slots.acquire(directoryOf(client, parts), data.claimBy, goOn);
  if (slot === 'taken') return undefined;
  if (slot === 'crowded' && mayWait) return { kind: 'snooze' };
  if (interrupts.handingOver) return { kind: 'give-back' };
  const isCancelled = interrupts.isCancelled(mockId);
  const noAnswer = isCancelled ? sentences.cancelledBeforeDispatch(mockId) : sentences.clientFull(client);
  return refuse(noAnswer, execution, parts);
}

async function claimInSlot(
  chosen: Chosen,
  execution: Execution,
  parts: BeginParts,
): Promise<ClaimOrRefusal | Unwritable> {
  const { client } = chosen;
  const directory = directoryOf(client, parts);
  try {
    for (let attempt = 1; ; attempt++) {
      try {
        return await writeAndClaim(chosen, execution, parts);
      } catch (error) {
        if (errnoOf(causeOf(error)) !== 'ENOENT' || attempt === ATTEMPTS) throw error;
        parts.sharedDirectory.forget(directory);
      }
    }
  } catch (error) {
    const cause = causeOf(error);
    const reason = whyUnwritable(cause);
    if (reason === undefined) throw cause;
    const noAnswer = sentences.channelUnavailable(client, reason);
    const isItsOwn = error instanceof UnwritableDirectory && !FULL.has(errnoOf(cause));
    return isItsOwn ? { kind: 'unwritable', noAnswer } : await refuse(noAnswer, execution, parts);
  } finally {
    parts.slots.release(directory);
  }
}

/** Writes this attempt's request and claims it. If another attempt was first, its claim is the one that counts. */
async function writeAndClaim(
  { client, isNewAddress }: Chosen,
  execution: Execution,
  parts: BeginParts,
): Promise<ClaimOrRefusal> {
  const { mockId, data } = execution;
  await parts.atStep('before-temporary', mockId);
  const clientDirectory = parts.sharedDirectory.clientDirectory(client.app, client.directoryName, {
    mark: isNewAddress,
  });
  const path = await clientDirectory.catch(failedWriting);
  let temporary: string | undefined;
  let decision: ClaimOrRefusal | undefined;
  let isUncertain = false;
  try {
    temporary = await writeTemporary(path, { ...data, mockId }, client.dialect).catch(failedWriting);
    const claim = claimFor(client, { mockId, temporary, madeDirectory: isNewAddress }, parts);
    const isLate = parts.sharedDirectory.clock.isPast(data.claimBy);
    await parts.atStep('before-claim', mockId); // where a long sleep does the most harm
    decision = isLate
      ? await refuse(sentences.tooLate(), execution, parts)
      : await parts.claims.claim({ mockId, claimBy: data.claimBy }, claim);
    return decision;
  } catch (error) {
    // A claim that names the temporary file may be there: without the file it could not be dispatched any more.
    isUncertain = error instanceof UncertainClaim || error instanceof UnknownClaim;
    throw error;
  } finally {
    const winner = decision?.kind === 'claimed' ? decision.claim : undefined;
    if (temporary && !isUncertain && winner?.temporary !== temporary) await removeTemporary(path, temporary);
    if (isNewAddress && !isUncertain && winner?.directoryName !== client.directoryName) await removeIfNobodyCame(path);
  }
}

function claimFor(
  { app, address, lane, directoryName, registered, dialect, sdk }: Client,
  own: Pick<Claim, 'mockId' | 'temporary' | 'madeDirectory'>,
  { settings }: BeginParts,
): Claim {
  const answerBy = time.now() + settings.RESULT_TIMEOUT_MS;
  const { givesUp } = sdks[sdk];
  const who = { app, address, lane, directoryName, registered, dialect, sdk, givesUp };
  return { v: CLAIM_VERSION, ...who, ...own, answerBy };
}

function failedWriting(cause: unknown): never {
  throw new UnwritableDirectory('the request could not be written', { cause });
}

function causeOf(error: unknown): unknown {
  return error instanceof UnwritableDirectory ? error.cause : error;
}

function directoryOf({ app, directoryName }: Client, { sharedDirectory }: BeginParts): string {
  return join(mockDirectory(sharedDirectory.sharedDir, app), directoryName);
}
