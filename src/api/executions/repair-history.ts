import { settledOf } from '../../shared/contract/endings/job-ending.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { every } from '../../shared/runtime/periodic.ts';
import type { Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { ExecutionQueue } from '../../shared/store/queue/queue-backend.ts';

const EVERY_MS = 30_000;
/** The queue store takes so many additions in one step. */
const AT_ONCE = 50;

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
    if (!job?.finishedOn) return;
    const { data, returnvalue, timestamp, finishedOn } = job;
    const settled = settledOf({ id: mockId, data, returnvalue, timestamp, finishedOn });
    if (!settled) return;
    await history.add(settled);
    onEnded(settled.record);
    log.info({ mockId, app: settled.record.app }, 'added to the history, because its worker could not write it');
  }

  async function repair(): Promise<void> {
    const all = await missing();
    for (let from = 0; from < all.length; from += AT_ONCE) await Promise.all(all.slice(from, from + AT_ONCE).map(add));
  }

  return every(EVERY_MS, repair, () => {}); // the queue's health says so once, and the next turn tries again
}
