import type { Ending } from '../../shared/contract/endings/ending.ts';
import {
  beginningOf,
  type ExecutionRecord,
  openRecord,
  progressSchema,
  type Queued,
  readEnding,
  toSettled,
} from '../../shared/contract/execution-record.ts';
import { jobDataSchema, jobHeadSchema } from '../../shared/contract/job.ts';
import type { ExecutionQueue, ShortJob, WholeJob } from '../../shared/queue/queue.ts';

/** An execution that an API of a newer version put on the queue: it can be read here once it has ended and is in the history. */
export class NewerExecution extends Error {
  readonly mockId: string;
  constructor(mockId: string) {
    super(`execution ${mockId} is of a newer version`);
    this.mockId = mockId;
  }
}

/** Turns a `NewerExecution` into null, for callers that can do without the execution; throws every other error. */
export function unlessNewer(error: unknown): null {
  if (error instanceof NewerExecution) return null;
  throw error;
}

/** Reads an execution from its job. */
type Found = { record: ExecutionRecord; input: string | null; ending: Ending | null; collect: boolean };
/** `newer`: it is of a version this one does not know. */
type FoundOrNewer = Found | 'newer';

const MOCK_ID = /^[0-9a-f-]{36}$/;
const JOBS_AT_ONCE = 500;
const MAX_JOBS_READ = 2000;

/** Reads executions from their jobs: whole ones with their inputs, and short ones for lists and followers. */
export function createReadJobs(queue: ExecutionQueue) {
  async function whole(mockId: string): Promise<FoundOrNewer | null> {
    // Other ids may name keys of the queue itself.
    const job = MOCK_ID.test(mockId) ? await queue.read(mockId) : null;
    return job ? (foundIn(mockId, job) ?? 'newer') : null;
  }

  async function shortOnes(mockIds: readonly string[]): Promise<FoundOrNewer[]> {
    const jobs = await queue.readShort(mockIds);
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
      const ids = await queue.listOpen(MAX_JOBS_READ);
      const records: ExecutionRecord[] = [];
      for (let start = 0; start < ids.length; start += JOBS_AT_ONCE) {
        for (const found of await shortOnes(ids.slice(start, start + JOBS_AT_ONCE))) {
          if (found !== 'newer' && found.record.ending === null) records.push(found.record);
        }
      }
      return records;
    },
  };
}

function foundIn(mockId: string, job: WholeJob): Found | null {
  const data = jobDataSchema.safeParse(job.data);
  return data.success ? toFound({ mockId, data: data.data }, job) : null;
}

function foundShort(mockId: string, { head, ...job }: ShortJob): Found | null {
  const data = jobHeadSchema.safeParse(head);
  return data.success ? toFound({ mockId, data: { ...data.data, input: '' } }, job) : null;
}

function toFound({ mockId, data }: Pick<Queued, 'mockId' | 'data'>, job: Omit<ShortJob, 'head'>): Found {
  const input = data.input || null; // a large one was dropped
  const progress = progressSchema.safeParse(job.progress).data ?? null;
  const queued = { mockId, data, queuedAt: job.addedAt, progress };
  const collect = data.collect === true;
  if (job.endedAt === null) return { record: openRecord(queued), input, ending: null, collect };
  const ending = readEnding(mockId, job.value);
  const { record } = toSettled(queued, ending, job.endedAt);
  const error = record.error === null ? null : beginningOf(record.error);
  return { record: { ...record, error }, input, ending, collect };
}
