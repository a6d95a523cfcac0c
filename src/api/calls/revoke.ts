import { unanswered } from '../../shared/contract/ending.ts';
import { type ExecutionRecord, type Queued, toSettled } from '../../shared/contract/execution-record.ts';
import { jobDataSchema } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { time } from '../../shared/seams/time.ts';
import type { History } from '../../shared/store/history.ts';
import type { ExecutionQueue, QueueBackend } from '../../shared/store/queue-backend.ts';

type Dependencies = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  history: History;
  /** The job is off the queue, and this is how its execution ended. */
  onRevoked: (mockId: string, noAnswer: NoAnswer) => void;
  onEnded: (record: ExecutionRecord) => void;
  log: Logger;
};

/** Ends executions that no worker began. */
export function createRevoke({ backend, queue, history, onRevoked, onEnded, log }: Dependencies) {
  const underWay = new Set<string>();

  /** Removes a job that no worker has begun, and ends its execution with `noAnswer`; false when one has or may have. */
  async function revoke(mockId: string, noAnswer: NoAnswer): Promise<boolean> {
    // Once a worker began it, only a worker can tell how it ended. This asks every 2 s for each open call, so it reads no input.
    const [short] = await backend.readShortJobs(queue, [mockId]);
    if (!short || short.begun) return false;
    const job = await queue.getJob(mockId);
    if (!job) return false;
    const data = jobDataSchema.parse(job.data);
    // A re-enqueued job may have run before Redis lost it: never end it with `mayHaveRun: false`.
    if (data.addedAgain && !noAnswer.mayHaveRun) return false;
    underWay.add(mockId); // a re-check that comes now must not re-enqueue it
    try {
      if (!(await backend.removeWaiting(queue, mockId))) return false;
      onRevoked(mockId, noAnswer);
    } finally {
      underWay.delete(mockId);
    }
    await record({ mockId, data, queuedAt: job.timestamp }, noAnswer);
    // Remove the job after the record is written: another API that waits for it would find neither, and re-enqueue it.
    await backend.tellChange(queue, mockId, data.replyTo);
    return true;
  }

  /** Adds the record of an execution that no worker began. */
  async function record(queued: Queued, noAnswer: NoAnswer): Promise<void> {
    const settled = toSettled(queued, unanswered(noAnswer), time.now());
    onEnded(settled.record);
    await history.add(settled).catch((error) => {
      log.warn({ mockId: queued.mockId, err: error }, 'an execution that no worker began is missing in the history');
    });
  }

  return { revoke, record, isUnderWay: (mockId: string) => underWay.has(mockId) };
}
