import { type ExecutionRecord, settledOf } from '../../shared/contract/execution-record.ts';
import type { ExecutionQueue } from '../../shared/queue/queue.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { History, HistoryLimits } from '../../shared/store/history/history.ts';

/** How many additions the queue store takes in one script. */
const AT_ONCE = 50;

type HistoryRepairDependencies = {
  queue: ExecutionQueue;
  limits: HistoryLimits;
  history: History;
  onEnded: (record: ExecutionRecord) => void;
  log: Logger;
};

/**
 * Adds executions to the history whose worker died between the completion of the job and the write of the record. Their jobs are kept for
 * 180 s and have everything.
 */
export function createHistoryRepair({ queue, limits, history, onEnded, log }: HistoryRepairDependencies) {
  async function add(mockId: string): Promise<void> {
    const job = await queue.read(mockId);
    if (job === null || job.endedAt === null) return;
    const settled = settledOf({ ...job, id: mockId, endedAt: job.endedAt });
    if (!settled) return;
    await history.add(settled);
    onEnded(settled.record);
    log.info({ mockId, app: settled.record.app }, 'added to the history, because its worker could not write it');
  }

  return async function repair(): Promise<void> {
    const all = await queue.missingRecords(limits);
    for (let from = 0; from < all.length; from += AT_ONCE) await Promise.all(all.slice(from, from + AT_ONCE).map(add));
  };
}
