import type { Refused } from '../../shared/runtime/http-refusals.ts';
import type { Problem } from '../calls/read-request.ts';

/** A batch that was taken, perhaps by an earlier call under the same key; or why it was not. */
export type Taken =
  | { kind: 'taken'; batchId: string }
  | { kind: 'bad'; problems: Problem[] }
  | { kind: 'other-body' }
  | Refused;
