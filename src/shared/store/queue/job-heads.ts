import type { Redis } from 'ioredis';
import { z } from 'zod';
import type { JobData } from '../../contract/job.ts';
import { parseJson } from '../../contract/json/parse-json.ts';
import type { ExecutionQueue, ReadShortJobs, ShortJob } from './queue-backend.ts';

/**
 * Puts an execution on the queue. What lists show of it is beside its data, in the options of the job: both queues keep
 * members there that they do not know, and workers of every version find the input where it always was.
 */
export async function addExecution(queue: ExecutionQueue, mockId: string, data: JobData): Promise<void> {
  const { input: _, ...head } = data;
  const options = { jobId: mockId, head: JSON.stringify(head) };
  await queue.add('execute', data, options);
}

const FIELDS = ['opts', 'timestamp', 'progress', 'finishedOn', 'returnvalue', 'ats', 'processedOn'] as const;
const optionsSchema = z.object({ head: z.string() });

/** The short form of a job, from its options. */
export function headIn(options: unknown): unknown {
  const found = optionsSchema.safeParse(options);
  return found.success ? parseJson(found.data.head) : null;
}

export function redisShortJobs(redis: Redis): ReadShortJobs {
  return async (queue, ids) => {
    const reads = redis.pipeline();
    for (const id of ids) reads.hmget(queue.toKey(id), ...FIELDS);
    const replies = (await reads.exec()) ?? [];
    return replies.map(([error, reply]) => {
      if (error) throw error;
      return shortJob(z.array(z.string().nullable()).parse(reply));
    });
  };
}

function shortJob(fields: (string | null)[]): ShortJob | null {
  const [options, timestamp, progress, finishedOn, returnvalue, begunTimes, begunAt] = fields;
  if (!options || !timestamp) return null;
  return {
    head: headIn(parseJson(options)),
    timestamp: Number(timestamp),
    begun: Number(begunTimes) > 0 || Boolean(begunAt),
    progress: parseJson(progress ?? ''),
    finishedOn: finishedOn ? Number(finishedOn) : null,
    returnvalue: parseJson(returnvalue ?? ''),
  };
}
