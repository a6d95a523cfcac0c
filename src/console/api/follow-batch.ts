import { type Batch, batchEventsPath, getBatch, isOver } from './batches.ts';
import { readAs } from './read-answer.ts';
import { type Failure, Refused } from './request.ts';
import * as shapes from './shapes.ts';

/** A batch as it goes on. `lost`: the service has not answered since then, epoch ms by this browser. */
export type FollowedBatch =
  | { kind: 'known'; batch: Batch; lost: number | null }
  /** The service does not know it, or no longer keeps it: its own sentence says which. */
  | { kind: 'unknown'; error: Failure }
  | { kind: 'unreachable' };

const POLL_MS = 2000;

/** Follows a batch to its end by its events; while they are lost, by asking. Returns how to stop following. */
export function followBatch(batchId: string, report: (followed: FollowedBatch) => void): () => void {
  let last: Batch | null = null;
  let heardAt = Date.now();
  let over = false;
  let poll: ReturnType<typeof setTimeout> | undefined;
  const source = new EventSource(batchEventsPath(batchId));
  const hear = (event: MessageEvent<string>) => update(readAs(shapes.batch, event.data));
  source.addEventListener('snapshot', hear);
  source.addEventListener('progress', hear);
  source.addEventListener('open', () => clearTimeout(poll));
  // A browser may give an event stream up for good; then asking goes on alone.
  source.addEventListener('error', () => {
    clearTimeout(poll);
    poll = setTimeout(ask, 0);
  });

  function update(batch: Batch): void {
    if (over) return;
    last = batch;
    heardAt = Date.now();
    if (isOver(batch)) stop();
    report({ kind: 'known', batch, lost: null });
  }

  function ask(): void {
    if (over) return;
    getBatch(batchId).then(update, (error) => {
      if (over) return;
      if (error instanceof Refused && (error.status === 404 || error.status === 410)) {
        stop();
        report({ kind: 'unknown', error: error.failure });
      } else report(last ? { kind: 'known', batch: last, lost: heardAt } : { kind: 'unreachable' });
    });
    clearTimeout(poll);
    poll = setTimeout(ask, POLL_MS);
  }

  function stop(): void {
    over = true;
    source.close();
    clearTimeout(poll);
  }

  return stop;
}
