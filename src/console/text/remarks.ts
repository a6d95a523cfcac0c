import type { Refusal } from '../../shared/cases/document/refusal.ts';
import { differences, leftOut } from '../../shared/reasons/remarks.ts';
import { type Failure, noFailure } from '../api/request.ts';

const fixed = { ...differences, ...leftOut };

/** A remark whose sentence has no parameters: how what came differs from what was expected, or why a run is left out. */
export const failureOfRemark = (reason: keyof typeof fixed): Failure => ({
  ...noFailure,
  reason,
  error: fixed[reason],
});

/** A mistake in pasted inputs, without its place. */
export const failureOfCell = ({ reason, params = {}, text }: NonNullable<Refusal['cell']>): Failure => ({
  ...noFailure,
  ...{ reason: reason ?? null, params, error: text },
});
