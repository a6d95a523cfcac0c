import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { ClaimOrRefusal } from '../files/claim.ts';
import type { BeginParts } from './begin-parts.ts';
import type { Execution } from './execution.ts';

/** Errors that say for sure that the refusal was not written. */
const NOT_WRITTEN = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'ENOTDIR']);

/**
 * Refuses an execution unless another attempt was first, and resolves to what counts. A refusal that could not be written counts
 * only if no other attempt ever had the job: an earlier one may be asleep just before its claim, and write it when it wakes up.
 * Otherwise it throws, and the job is tried again.
 */
export async function refuse(noAnswer: NoAnswer, execution: Execution, parts: BeginParts): Promise<ClaimOrRefusal> {
  const { mockId, data } = execution;
  try {
    return await parts.claims.refuse({ mockId, claimBy: data.claimBy }, noAnswer);
  } catch (error) {
    if (!NOT_WRITTEN.has(errnoOf(error)) || !(await isTheOnlyAttempt(execution, parts))) throw error;
    return { kind: 'refused', noAnswer };
  }
}

/** The queue store counts attempts. One that was started anew since the job was added may have forgotten an attempt. */
async function isTheOnlyAttempt({ data, firstAttempt }: Execution, { storeRun }: BeginParts): Promise<boolean> {
  return firstAttempt && data.storeRun !== undefined && data.storeRun === (await storeRun.ask());
}
