import { z } from 'zod';
import type { Database } from '../file/database.ts';

const idsSchema = z.array(z.object({ id: z.string() }));

const MISSING = `finished_at <= ?1
  AND NOT EXISTS (SELECT 1 FROM history WHERE key = job.id)
  AND NOT EXISTS (SELECT 1 FROM history_of_batches WHERE key = job.id)`;

/**
 * Finds executions that ended before this start and are in no history, because the process died before it wrote them there.
 * Their jobs count as finished now: the first job that ends here would otherwise remove them, had the process been away for long.
 */
export async function embeddedMissingRecords({
  read,
  write,
  statement,
}: Database): Promise<(queue: string) => Promise<string[]>> {
  const startedAt = Date.now();
  await write(() => statement(`UPDATE job SET finished_at = ?1 WHERE ${MISSING}`).run(startedAt));
  return (queue) =>
    read(() =>
      idsSchema.parse(statement(`SELECT id FROM job WHERE ${MISSING} AND queue = ?2`).all(startedAt, queue)),
    ).then((rows) => rows.map(({ id }) => id));
}
