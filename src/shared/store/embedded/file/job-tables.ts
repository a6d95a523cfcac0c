import { z } from 'zod';
import { parseJson } from '../../../contract/json/parse-json.ts';

/** The jobs of the queues, which `queue/sqlite` takes and ends. */
export const JOB_TABLES = `
CREATE TABLE IF NOT EXISTS job (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL,
  place INTEGER NOT NULL, priority INTEGER NOT NULL, due_at INTEGER,
  name TEXT NOT NULL, data TEXT NOT NULL, opts TEXT NOT NULL, added_at INTEGER NOT NULL,
  attempts_made INTEGER NOT NULL DEFAULT 0, attempts_started INTEGER NOT NULL DEFAULT 0, stalled INTEGER NOT NULL DEFAULT 0,
  progress TEXT, processed_at INTEGER, processed_by TEXT,
  finished_at INTEGER, return_value TEXT, failed_reason TEXT, stacktrace TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS job_id ON job (queue, id);
CREATE INDEX IF NOT EXISTS job_waiting ON job (queue, priority, place) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS job_active ON job (queue) WHERE state = 'active';
CREATE INDEX IF NOT EXISTS job_delayed ON job (queue, due_at) WHERE state = 'delayed';
CREATE INDEX IF NOT EXISTS job_finished ON job (queue, state, finished_at) WHERE finished_at IS NOT NULL;
CREATE TABLE IF NOT EXISTS queue_meta (queue TEXT, field TEXT, value TEXT, PRIMARY KEY (queue, field)) WITHOUT ROWID;
`;

const optionsSchema = z.object({ head: z.string() });

/** The short form of a job, from the options it was added with. */
export function headIn(options: string): unknown {
  const found = optionsSchema.safeParse(parseJson(options));
  return found.success ? parseJson(found.data.head) : null;
}
