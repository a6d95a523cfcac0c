import { time } from '../../shared/ports/time.ts';
import { createBacklog } from '../../shared/queue/backlog.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { Task } from '../../shared/runtime/upkeep.ts';

/** A batch that gives way still sends an item at this interval, so that it never starves. */
const ITEM_EVERY_MS = 1000;

export type GiveWay = ReturnType<typeof createGiveWay>;

/**
 * Lets batches give way to callers: while more calls come than workers can begin, a worker sends one item a second of its batches. Callers are
 * refused only when that does not help. `isRunning`: whether this worker runs a batch; otherwise nothing is read.
 */
export function createGiveWay(
  backend: Pick<QueueBackend, 'workers'>,
  { queue, isRunning }: { queue: Pick<Queue, 'count'>; isRunning: () => boolean },
) {
  const backlog = createBacklog();
  let sentAt = Number.NEGATIVE_INFINITY;

  async function update(): Promise<void> {
    if (!isRunning()) return;
    const [{ waiting }, reports] = await Promise.all([queue.count(), backend.workers.read()]);
    backlog.update(waiting, reports);
  }
  const task: Task = { name: 'measuring the backlog', everyMs: 250, run: update }; // as often as an API; an earlier reading counts for a while

  return {
    /** Whether an item may be sent now. */
    maySend: (): boolean => backlog.delayMs() === 0 || time.monotonic() - sentAt >= ITEM_EVERY_MS,
    /** An item is sent. */
    sent(): void {
      sentAt = time.monotonic();
    },
    task,
  };
}
