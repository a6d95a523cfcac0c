import type { Ending } from '../../shared/contract/endings/ending.ts';
import { readEnding } from '../../shared/contract/endings/job-ending.ts';
import {
  beginningOf,
  type ExecutionRecord,
  openRecord,
  progressSchema,
  type Queued,
  toSettled,
} from '../../shared/contract/execution-record.ts';
import { jobDataSchema, jobHeadSchema } from '../../shared/contract/job.ts';
import type { ExecutionQueue, ReadShortJobs, ShortJob } from '../../shared/store/queue/queue-backend.ts';

/** Reads an execution from its job. */
type Found = { record: ExecutionRecord; input: string | null; ending: Ending | null; collect: boolean };
/** `newer`: it is of a version this one does not know. */
type FoundOrNewer = Found | 'newer';

const MOCK_ID = /^[0-9a-f-]{36}$/;
const JOBS_AT_ONCE = 500;
const MAX_JOBS_LOOKED_AT = 2000;

type ReadJobsDependencies = { queue: ExecutionQueue; readShortJobs: ReadShortJobs };

/** Reads executions from their jobs: whole ones with their inputs, and short ones for lists and followers. */
export function createReadJobs({ queue, readShortJobs }: ReadJobsDependencies) {
  async function whole(mockId: string): Promise<FoundOrNewer | null> {
    // Other ids may name keys of the queue itself.
    const job = MOCK_ID.test(mockId) ? await queue.getJob(mockId) : undefined;
    return job ? (foundIn(mockId, job) ?? 'newer') : null;
  }

  async function shortOnes(mockIds: readonly string[]): Promise<FoundOrNewer[]> {
    const jobs = await readShortJobs(queue, mockIds);
    return mockIds.flatMap((mockId, index) => {
      const job = jobs[index];
      return job ? (foundShort(mockId, job) ?? 'newer') : [];
    });
  }

  return {
    whole,
    short: async (mockId: string) => (MOCK_ID.test(mockId) ? (await shortOnes([mockId])).at(0) : undefined),
    /** The jobs that have not ended, out of the newest 2,000. */
    async open(): Promise<ExecutionRecord[]> {
      const ids = await queue.getRanges(['active', 'waiting', 'delayed'], 0, MAX_JOBS_LOOKED_AT - 1);
      const records: ExecutionRecord[] = [];
      for (let start = 0; start < ids.length; start += JOBS_AT_ONCE) {
        for (const found of await shortOnes(ids.slice(start, start + JOBS_AT_ONCE))) {
          if (found !== 'newer' && found.record.outcome === null) records.push(found.record);
        }
      }
      return records;
    },
  };
}

type Job = Omit<ShortJob, 'head' | 'begun' | 'finishedOn'> & Partial<Pick<ShortJob, 'finishedOn'>>;

function foundIn(mockId: string, job: Job & { data: unknown }): Found | null {
  const data = jobDataSchema.safeParse(job.data);
  return data.success ? toFound({ mockId, data: data.data }, job) : null;
}

function foundShort(mockId: string, { head, ...job }: ShortJob): Found | null {
  const data = jobHeadSchema.safeParse(head);
  return data.success ? toFound({ mockId, data: { ...data.data, input: '' } }, job) : null;
}

function toFound({ mockId, data }: Pick<Queued, 'mockId' | 'data'>, job: Job): Found {
  const input = data.input || null; // a large one was dropped
  const progress = progressSchema.safeParse(job.progress).data ?? null;
  const queued = { mockId, data, queuedAt: job.timestamp, progress };
  const collect = data.collect === true;
  if (!job.finishedOn) return { record: openRecord(queued), input, ending: null, collect };
  const ending = readEnding(mockId, job.returnvalue);
  const { record } = toSettled(queued, ending, job.finishedOn);
  const error = record.error === null ? null : beginningOf(record.error);
  return { record: { ...record, error }, input, ending, collect };
}
