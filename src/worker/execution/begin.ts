import { parseTarget, type Target } from '../../shared/contract/target.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import { canRead, largeNumberIn } from '../dialects/number-range.ts';
import { endings } from '../endings.ts';
import { type ClaimOrRefusal, NewerClaim, UnknownClaim } from '../files/claim.ts';
import type { Resolution } from '../placement/resolve-target.ts';
import type { BeginParts } from './begin-parts.ts';
import { claimAtClient, type Proposed, refuse } from './claim-at-client.ts';
import { isOverForAll } from './deadlines.ts';
import { type Claimed, type Ended, type Execution, endedWithout, type Postponed } from './execution.ts';
import { HandedOver } from './interrupts.ts';

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
    if (error instanceof HandedOver) return { kind: 'release' };
    // An execution that fails for ever would never leave the queue.
    const isOver = isOverForAll(data.claimBy, parts.sharedDirectory.clock, parts.settings);
    if (error instanceof NewerClaim && !isOver) return { kind: 'newer' };
    if (!isOver && !(error instanceof UnknownClaim)) throw error;
    return endedWithout(endings.unreadableClaim(mockId));
  }
}

async function claimOrRefuse(execution: Execution, parts: BeginParts): Promise<Claimed | Ended | Postponed> {
  const { mockId, data, firstAttempt } = execution;
  const { claims, interrupts, inspections } = parts;
  const key = { mockId, claimBy: data.claimBy };
  const earlier = firstAttempt ? null : await interrupts.unlessHandedOver(findEarlier(key, parts));
  const proposed: Proposed | Postponed = earlier ?? (await propose(execution, parts));
  if (proposed.kind !== 'claimed' && proposed.kind !== 'refused') return proposed;
  const decision: Proposed =
    proposed.kind === 'claimed' ? proposed : await claims.decide(key, proposed).catch(orAnyway(proposed, execution));
  if (decision.kind === 'refused') return endedWithout(decision.noAnswer);
  const { claim, warnings } = decision;
  if (warnings) return { kind: 'claimed', claim, warnings };
  const again = await interrupts.unlessHandedOver(inspections.warningsAgain(claim, data));
  return { kind: 'claimed', claim, warnings: again };
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

/** The proposal of this attempt: a claim for a client, or a reason not to begin, which counts unless another attempt claims. */
async function propose(execution: Execution, parts: BeginParts): Promise<Proposed | Postponed> {
  const { mockId, data, firstAttempt } = execution;
  const { claims, interrupts } = parts;
  try {
    if (!(await claims.prepareUnlessPast(data))) return refuse(endings.tooLate());
  } catch (error) {
    // If all claims are out of sight, only the first attempt knows that there is none.
    const refusal = firstAttempt || errnoOf(error) !== 'ENOENT' ? endings.claimsUnwritable(error) : undefined;
    if (refusal) return refuse(refusal);
    throw error;
  }
  if (interrupts.isCancelled(mockId)) return refuse(endings.cancelledBeforeDispatch(mockId));
  const target = parseTarget(data.target);
  if (target.kind === 'malformed') return refuse(endings.badRequest('target', target.message));
  return claimAtOneOf(target, execution, parts);
}

/** A client whose directory cannot be written keeps no call that may go to another one. */
async function claimAtOneOf(target: Target, execution: Execution, parts: BeginParts): Promise<Proposed | Postponed> {
  const tried = new Set<string>();
  let first: ClaimOrRefusal | undefined;
  while (tried.size < CLIENTS_TRIED) {
    const resolved = await resolve(target, execution, tried, parts);
    if (resolved.kind === 'refused') return first ?? resolved;
    const proposed = await claimAtClient(resolved, execution, parts);
    if (proposed.kind !== 'unwritable') return proposed;
    first ??= refuse(proposed.noAnswer);
    if (target.kind === 'address') return first;
    parts.unwritable.note(resolved.client, proposed.noAnswer);
    tried.add(resolved.client.directoryName);
  }
  return first ?? refuse(endings.tooLate());
}

function resolve(
  target: Target,
  { data }: Execution,
  tried: ReadonlySet<string>,
  { interrupts, resolveTarget }: BeginParts,
): Promise<Resolution> {
  const large = largeNumberIn(data.input);
  return interrupts.unlessHandedOver(
    resolveTarget(data.app, target, { tried, suits: ({ sdk }) => canRead(sdk, large) }).catch((error): Resolution => {
      const noAnswer = endings.clientsUnreadable(error, data.app);
      if (noAnswer) return { kind: 'refused', noAnswer };
      throw error;
    }),
  );
}

/** Errors that keep every worker from writing: neither this refusal nor a claim. */
const NO_WORKER_CAN_WRITE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'ENOTDIR']);
const HIDES_EARLIER_CLAIMS = new Set(['ENOENT', 'ENOTDIR']);

/**
 * If the disk is full, neither a refusal nor a claim can be written, so "did not run" is true. Except on a later attempt
 * whose folder of claims is away: an earlier claim may be hidden.
 */
function orAnyway(refusal: ClaimOrRefusal, { firstAttempt }: Execution) {
  return (error: unknown): ClaimOrRefusal => {
    const code = errnoOf(error);
    if (!NO_WORKER_CAN_WRITE.has(code) || (HIDES_EARLIER_CLAIMS.has(code) && !firstAttempt)) throw error;
    return refusal;
  };
}
