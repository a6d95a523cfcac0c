import { type Problem, problemText } from '../../shared/reasons/problems.ts';
import { differences, leftOut } from '../../shared/reasons/remarks.ts';
import { type Failure, noFailure } from '../api/request.ts';

const fixed = { ...differences, ...leftOut };

/** A remark whose sentence has no parameters: how what came differs from what was expected, or why a run is left out. */
export const failureOfRemark = (reason: keyof typeof fixed): Failure => ({
  ...noFailure,
  reason,
  error: fixed[reason],
});

/** What is wrong with pasted inputs. */
export const failureOfProblem = ({ code, params }: Problem): Failure => ({
  ...noFailure,
  ...{ reason: code, params, error: problemText({ code, params }) },
});
