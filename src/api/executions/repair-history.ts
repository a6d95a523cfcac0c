import { endingOfCompleted, endingOfFailed } from '../../shared/contract/endings/job-ending.ts';
import { type ExecutionRecord, toSettled } from '../../shared/contract/execution-record.ts';
import { jobDataSchema } from '../../shared/contract/job.ts';
import { every } from '../../shared/runtime/periodic.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { ExecutionQueue } from '../../shared/store/queue/queue-backend.ts';

const EVERY_MS = 30_000;

type HistoryRepairDependencies = {
  /** Ids of executions that ended lately and are in no history. */
  missing: () => Promise<string[]>;
  queue: ExecutionQueue;
  history: History;
  onEnded: (record: ExecutionRecord) => void;
  log: Logger;
};

/**
 * Adds executions to the history whose worker died between telling the queue of their end and writing it there. Their jobs
 * tell all of it for 180 s.
 */
export function startHistoryRepair({ missing, queue, history, onEnded, log }: HistoryRepairDependencies) {
  async function add(mockId: string): Promise<void> {
    const job = await queue.getJob(mockId);
    const data = jobDataSchema.safeParse(job?.data).data;
    if (!job?.finishedOn || !data) return;
    const { failedReason, returnvalue, timestamp, finishedOn } = job;
    const ending = failedReason ? endingOfFailed(mockId, failedReason) : endingOfCompleted(mockId, returnvalue);
    const settled = toSettled({ mockId, data, queuedAt: timestamp }, ending, finishedOn);
    await history.add(settled);
    onEnded(settled.record);
    log.info({ mockId, app: data.app }, 'added to the history, because its worker could not write it');
  }

  async function repair(): Promise<void> {
    for (const mockId of await missing()) await add(mockId);
  }

  return every(EVERY_MS, repair, () => {}); // the queue's health says so once, and the next turn tries again
}
