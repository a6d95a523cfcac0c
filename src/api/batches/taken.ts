import type { SetAside } from '../../shared/cases/document/refusal.ts';
import type { Problem } from '../calls/read-request.ts';

/** A batch that was taken, perhaps by an earlier call under the same key; or why it was not. */
export type Taken =
  | { kind: 'taken'; batchId: string; setAside?: SetAside | undefined }
  | { kind: 'bad'; problems: Problem[] }
  | { kind: 'other-body' }
  | Refused;
export type Refused = { kind: 'refused'; status: 404 | 410 | 422 | 429 | 503; error: string };

export function refused(status: Refused['status'], error: string): Refused {
  return { kind: 'refused', status, error };
}
