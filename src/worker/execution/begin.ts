import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { sentences } from '../../shared/contract/sentences.ts';
import { parseTarget, type Target } from '../../shared/contract/target.ts';
import { canRead, largeNumberIn } from '../dialects/number-range.ts';
import { type ClaimOrRefusal, NewerClaim, UnknownClaim } from '../files/claim.ts';
import type { Resolution } from '../placement/resolve-target.ts';
import { whyUnclaimed, whyUnlisted } from '../reasons.ts';
import type { BeginParts } from './begin-parts.ts';
import { claimAtClient, type Decided } from './claim-at-client.ts';
import { isOverForAll } from './deadlines.ts';
import { type Claimed, type Ended, type Execution, endedWithout, type Postponed } from './execution.ts';
import { HandedOver } from './interrupts.ts';
import { refuse } from './refuse.ts';

/** With more the disk itself is the likelier cause, and each try takes its time. */
const CLIENTS_TRIED = 5;

/**
 * Begins an execution: with a claim, or with a refusal that ends it. If another attempt wrote one first, that one counts.
 * `Postponed`: this worker wrote neither, and the job goes back to the queue.
 */
export async function begin(execution: Execution, parts: BeginParts): Promise<Claimed | Ended | Postponed> {
  try {
    return await claimOrRefuse(execution, parts);
  } catch (error) {
    const { mockId, data } = execution;
    if (error instanceof HandedOver) return { kind: 'give-back' };
    // An execution that fails for ever would never leave the queue.
    const isOver = isOverForAll(data.claimBy, parts.sharedDirectory.clock, parts.settings);
    if (error instanceof NewerClaim && !isOver) return { kind: 'newer' };
    if (!isOver && !(error instanceof UnknownClaim)) throw error;
    return endedWithout(sentences.unreadableClaim(mockId));
  }
}

async function claimOrRefuse(execution: Execution, parts: BeginParts): Promise<Claimed | Ended | Postponed> {
  const { mockId, data, firstAttempt } = execution;
  const { interrupts, inspections } = parts;
  const key = { mockId, claimBy: data.claimBy };
  const earlier = firstAttempt ? null : await interrupts.unlessHandedOver(() => findEarlier(key, parts));
  const decided: Decided | Postponed = earlier ?? (await decide(execution, parts));
  if (decided.kind === 'refused') return endedWithout(decided.noAnswer);
  if (decided.kind !== 'claimed') return decided;
  const { claim } = decided;
  const warnings =
    decided.warnings ?? (await interrupts.unlessHandedOver(() => inspections.warningsAgain(claim, data)));
  return { kind: 'claimed', claim, warnings };
}

/** If the whole shared directory is away, the claim of an earlier attempt is not missing, only out of sight. */
async function findEarlier(
  key: { mockId: string; claimBy: number },
  { sharedDirectory, claims }: BeginParts,
): Promise<ClaimOrRefusal | null> {
  await sharedDirectory.mustBeThere();
  const earlier = await claims.find(key);
  // The folder is made before `claimBy` and kept for ten minutes: if it is missing, it may have been swept with its claims.
  if (!earlier && sharedDirectory.clock.isPast(key.claimBy) && !(await claims.hasFolder(key)))
    throw new UnknownClaim(`the claims of the time of ${key.mockId} are gone`);
  return earlier;
}

/** Claims the execution for a client, or refuses it, unless another attempt was first. */
async function decide(execution: Execution, parts: BeginParts): Promise<Decided | Postponed> {
  const { mockId, data } = execution;
  const noRoom = await prepareClaim(execution, parts);
  if (noRoom) return refuse(noRoom, execution, parts);
  if (parts.interrupts.isCancelled(mockId)) return refuse(sentences.cancelledBeforeDispatch(mockId), execution, parts);
  const target = parseTarget(data.target);
  if (target.kind === 'malformed') return refuse(sentences.badRequest('target', target.message), execution, parts);
  return claimAtOneOf(target, execution, parts);
}

/** Makes room for the claim; or tells why no claim may be written. */
async function prepareClaim({ data }: Execution, { claims }: BeginParts): Promise<NoAnswer | undefined> {
  try {
    return (await claims.prepareUnlessPast(data)) ? undefined : sentences.tooLate();
  } catch (error) {
    const reason = whyUnclaimed(error);
    if (reason === undefined) throw error;
    return sentences.claimsUnwritable(reason);
  }
}

/** A client whose directory cannot be written keeps no call that may go to another one. */
async function claimAtOneOf(target: Target, execution: Execution, parts: BeginParts): Promise<Decided | Postponed> {
  const tried = new Set<string>();
  let first: NoAnswer | undefined;
  for (;;) {
    const resolved = await resolve(target, execution, tried, parts);
    if (resolved.kind === 'refused') return refuse(first ?? resolved.noAnswer, execution, parts);
    const outcome = await claimAtClient(resolved, execution, parts);
    if (outcome.kind !== 'unwritable') return outcome;
    first ??= outcome.noAnswer;
    if (target.kind === 'address') return refuse(first, execution, parts);
    parts.unwritable.note(resolved.client, outcome.noAnswer);
    tried.add(resolved.client.directoryName);
    if (tried.size === CLIENTS_TRIED) return refuse(first, execution, parts);
  }
}

function resolve(
  target: Target,
  { data }: Execution,
  tried: ReadonlySet<string>,
  { interrupts, resolveTarget }: BeginParts,
): Promise<Resolution> {
  const large = largeNumberIn(data.input);
  return interrupts.unlessHandedOver(() =>
    resolveTarget(data.app, target, { tried, suits: ({ sdk }) => canRead(sdk, large) }).catch((error): Resolution => {
      const reason = whyUnlisted(error);
      if (reason === undefined) throw error;
      return { kind: 'refused', noAnswer: sentences.clientsUnreadable(data.app, reason) };
    }),
  );
}
