import type { Ending } from '../../shared/contract/ending.ts';
import {
  type ExecutionRecord,
  noAnswerBody,
  openRecord,
  progressSchema,
  toSettled,
} from '../../shared/contract/execution-record.ts';
import { type JobData, type JobResult, jobDataSchema } from '../../shared/contract/job.ts';
import type { History, HistoryFilter } from '../../shared/store/history.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';
import { endingOfCompleted, endingOfFailed } from '../calls/job-ending.ts';
import type { ReadAnswer } from '../calls/read-answer.ts';
import { NewerExecution } from './newer-execution.ts';
import { byAge } from './open-cursor.ts';

/** One execution with the texts that belong to it; `result` is what its caller was or would have been answered. */
export type Execution = {
  record: ExecutionRecord;
  input: string | null;
  result: string | null;
  lateResult: string | null;
};

const MOCK_ID = /^[0-9a-f-]{36}$/;
const JOBS_AT_ONCE = 25;
const MAX_JOBS_LOOKED_AT = 2000;

type Dependencies = { queue: ExecutionQueue; history: History; readAnswer: ReadAnswer };
type FoundJob = {
  data: JobData;
  timestamp: number;
  progress: unknown;
  returnvalue: JobResult;
  failedReason?: string;
  finishedOn?: number | null;
};

/** Where executions are read from: settled ones from the history, those on their way from the queue. */
export function createReadExecution({ queue, history, readAnswer }: Dependencies) {
  async function fromQueue(mockId: string): Promise<Execution | null> {
    // Other ids may name keys of the queue itself.
    if (!MOCK_ID.test(mockId)) return null;
    const job = await queue.getJob(mockId);
    if (!job) return null;
    const found = foundIn(mockId, job);
    if (!found) throw new NewerExecution(mockId);
    const { record, input, ending } = found;
    return { record, input, result: await resultOf(mockId, ending), lateResult: null };
  }

  async function resultOf(mockId: string, ending: Ending | null): Promise<string | null> {
    if (ending === null) return null;
    return ending.kind === 'answered' ? readAnswer(mockId, ending.result) : noAnswerBody(mockId, ending.noAnswer);
  }

  let reading: Promise<ExecutionRecord[]> | undefined;

  return {
    /** The record alone; null when nobody knows the id. */
    async find(mockId: string): Promise<ExecutionRecord | null> {
      return (await history.get(mockId)) ?? (await fromQueue(mockId))?.record ?? null;
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
      // One read serves all calls that come meanwhile: jobs are read with their inputs.
      reading ??= readOpen(queue).finally(() => {
        reading = undefined;
      });
      return (await reading).filter(
        (record) =>
          record.batchId === (batchId ?? null) &&
          (app === undefined || record.app === app) &&
          (!apps || apps.has(record.app)) &&
          (ruleId === undefined || record.ruleId === ruleId),
      );
    },
  };
}

/** A few at once: jobs are read with their inputs. */
async function readOpen(queue: ExecutionQueue): Promise<ExecutionRecord[]> {
  const found = new Map<string, ExecutionRecord>();
  for (let start = 0; start < MAX_JOBS_LOOKED_AT; start += JOBS_AT_ONCE) {
    const jobs = await queue.getJobs(['active', 'waiting', 'delayed'], start, start + JOBS_AT_ONCE - 1);
    for (const job of jobs) {
      const record = job && foundIn(job.id ?? '', job)?.record;
      if (record?.outcome === null) found.set(record.mockId, record);
    }
    if (jobs.length < JOBS_AT_ONCE) break;
  }
  return [...found.values()].sort(byAge);
}

type Found = Pick<Execution, 'record' | 'input'> & { ending: Ending | null };

/** What a job tells about its execution; null when it is of a version this one does not know. */
function foundIn(mockId: string, job: FoundJob): Found | null {
  const data = jobDataSchema.safeParse(job.data);
  if (!data.success) return null;
  const input = data.data.input || null; // a large one was dropped
  const progress = progressSchema.safeParse(job.progress).data ?? null;
  const queued = { mockId, data: data.data, queuedAt: job.timestamp, progress };
  if (!job.finishedOn) return { record: openRecord(queued), input, ending: null };
  const { failedReason, returnvalue } = job;
  const ending = failedReason ? endingOfFailed(mockId, failedReason) : endingOfCompleted(mockId, returnvalue);
  return { record: toSettled(queued, ending, job.finishedOn).record, input, ending };
}
