import type { Problem } from '../../shared/reasons/problems.ts';
import type { Refused } from '../../shared/runtime/http-refusals.ts';

/** A batch that was taken, perhaps by an earlier call under the same key; or why it was not. */
export type Taken =
  | { kind: 'taken'; batchId: string }
  | { kind: 'bad'; problems: Problem[] }
  | { kind: 'other-body' }
  | Refused;
