import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { ClaimOrRefusal } from '../files/claim.ts';
import type { BeginParts } from './begin-parts.ts';
import type { Execution } from './execution.ts';

/** Errors that keep every worker from writing: neither this refusal nor a claim. */
const NO_WORKER_CAN_WRITE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT', 'ENOTDIR']);
const HIDES_EARLIER_CLAIMS = new Set(['ENOENT', 'ENOTDIR']);

/**
 * Refuses an execution unless another attempt was first, and resolves to what counts. If the disk is full, neither a refusal nor
 * a claim can be written, so "did not run" is true. Except on a later attempt whose folder of claims is away: an earlier claim may
 * be hidden.
 */
export async function refuse(noAnswer: NoAnswer, execution: Execution, parts: BeginParts): Promise<ClaimOrRefusal> {
  const { mockId, data, firstAttempt } = execution;
  const refusal: ClaimOrRefusal = { kind: 'refused', noAnswer };
  try {
    return await parts.claims.decide({ mockId, claimBy: data.claimBy }, refusal);
  } catch (error) {
    const code = errnoOf(error);
    if (!NO_WORKER_CAN_WRITE.has(code) || (HIDES_EARLIER_CLAIMS.has(code) && !firstAttempt)) throw error;
    return refusal;
  }
}
