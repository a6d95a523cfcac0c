import { z } from 'zod';
import type { EmbeddedPool } from '../embedded-postgres.ts';

const idsSchema = z.array(z.object({ id: z.string() }));

const MISSING = `finished_at_ms <= $1
  AND NOT EXISTS (SELECT FROM kept.history WHERE key = job.id)
  AND NOT EXISTS (SELECT FROM kept.history_of_batches WHERE key = job.id)`;

/**
 * Finds executions that ended before this start and are in no history, because the process died before it wrote them there.
 * Their jobs count as finished now: the first job that ends here would otherwise remove them, had the process been away for long.
 */
export async function embeddedMissingRecords({
  query,
}: Pick<EmbeddedPool, 'query'>): Promise<(queue: string) => Promise<string[]>> {
  const startedAt = Date.now();
  await query(`UPDATE job SET finished_at_ms = $1 WHERE ${MISSING}`, [startedAt]);
  return async (queue) => {
    const { rows } = await query(`SELECT id FROM job WHERE ${MISSING} AND queue = $2`, [startedAt, queue]);
    return idsSchema.parse(rows).map(({ id }) => id);
  };
}
