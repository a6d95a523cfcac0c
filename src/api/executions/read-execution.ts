import type { Ending } from '../../shared/contract/ending.ts';
import { type ExecutionRecord, noAnswerBody } from '../../shared/contract/execution-record.ts';
import type { History, HistoryFilter } from '../../shared/store/history.ts';
import type { ReadShortJobs } from '../../shared/store/job-heads.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';
import type { ReadAnswer } from '../calls/read-answer.ts';
import { NewerExecution } from './newer-execution.ts';
import { byAge } from './open-cursor.ts';
import { createReadJobs } from './read-jobs.ts';

/** One execution with the texts that belong to it; `result` is what its caller was or would have been answered. */
export type Execution = {
  record: ExecutionRecord;
  input: string | null;
  result: string | null;
  lateResult: string | null;
};

type Dependencies = { queue: ExecutionQueue; readShortJobs: ReadShortJobs; history: History; readAnswer: ReadAnswer };

/** Where executions are read from: settled ones from the history, those on their way from the queue. */
export function createReadExecution({ queue, readShortJobs, history, readAnswer }: Dependencies) {
  const jobs = createReadJobs({ queue, readShortJobs });

  async function fromQueue(mockId: string): Promise<Execution | null> {
    const found = await jobs.whole(mockId);
    if (found === 'newer') throw new NewerExecution(mockId);
    if (found === null) return null;
    const { record, input, ending } = found;
    return { record, input, result: await resultOf(mockId, ending), lateResult: null };
  }

  async function recordInQueue(mockId: string): Promise<ExecutionRecord | null> {
    const found = await jobs.short(mockId);
    if (found === 'newer') throw new NewerExecution(mockId);
    return found?.record ?? null;
  }

  async function resultOf(mockId: string, ending: Ending | null): Promise<string | null> {
    if (ending === null) return null;
    return ending.kind === 'answered' ? readAnswer(mockId, ending.result) : noAnswerBody(mockId, ending.noAnswer);
  }

  let reading: Promise<ExecutionRecord[]> | undefined;

  return {
    /** The record alone; null when nobody knows the id. */
    async find(mockId: string): Promise<ExecutionRecord | null> {
      return (await history.get(mockId)) ?? recordInQueue(mockId);
    },

    async get(mockId: string): Promise<Execution | null> {
      const record = await history.get(mockId);
      if (!record) return fromQueue(mockId);
      const [input, result, lateResult] = await Promise.all([
        history.input(mockId),
        history.result(mockId),
        record.lateResult ? history.lateResult(mockId) : null,
      ]);
      return { record, input, result, lateResult };
    },

    /** Those that are on their way, newest first, out of the newest 2,000. */
    async open({ app, apps, ruleId, batchId }: Omit<HistoryFilter, 'limit' | 'cursor'>): Promise<ExecutionRecord[]> {
      // One read serves all calls that come meanwhile.
      reading ??= jobs.open().finally(() => {
        reading = undefined;
      });
      const records = (await reading).filter(
        (record) =>
          record.batchId === (batchId ?? null) &&
          (app === undefined || record.app === app) &&
          (!apps || apps.has(record.app)) &&
          (ruleId === undefined || record.ruleId === ruleId),
      );
      return records.sort(byAge);
    },
  };
}
