import { z } from 'zod';
import { parseJson } from '../../../contract/parse-json.ts';
import { headIn } from '../../job-heads.ts';
import type { ReadShortJobs, ShortJob } from '../../queue-backend.ts';
import type { Database } from '../file/database.ts';

const SHORT = `SELECT opts, added_at, attempts_started > 0 AS begun, progress, finished_at, failed_reason, return_value
FROM job WHERE queue = ? AND id = ?`;
const rowSchema = z.object({
  opts: z.string(),
  added_at: z.int(),
  begun: z.int(),
  progress: z.string().nullable(),
  finished_at: z.int().nullable(),
  failed_reason: z.string().nullable(),
  return_value: z.string().nullable(),
});

export function embeddedShortJobs({ read, statement }: Database): ReadShortJobs {
  return (queue, ids) => read(() => ids.map((id) => shortJob(statement(SHORT).get(queue.name, id))));
}

function shortJob(row: unknown): ShortJob | null {
  if (row === undefined) return null;
  const { opts, added_at, begun, progress, finished_at, failed_reason, return_value } = rowSchema.parse(row);
  return {
    head: headIn(parseJson(opts)),
    timestamp: added_at,
    begun: begun === 1,
    progress: parseJson(progress ?? ''),
    finishedOn: finished_at,
    failedReason: failed_reason,
    returnvalue: parseJson(return_value ?? ''),
  };
}
