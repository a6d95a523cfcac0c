/**
 * The jobs of the queues, which `queue/sqlite` takes and ends: `waiting`, `snoozed` until `due_at`, `taken` or `ended`. The lowest `place` is next.
 * `takes`: how often a worker took it; `trace`: in which trace it was added.
 */
export const JOB_TABLES = `
CREATE TABLE IF NOT EXISTS job (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, place INTEGER NOT NULL, due_at INTEGER,
  data TEXT NOT NULL, head TEXT, trace TEXT, added_at INTEGER NOT NULL,
  takes INTEGER NOT NULL DEFAULT 0, progress TEXT, ended_at INTEGER, value TEXT
);
CREATE UNIQUE INDEX IF NOT EXISTS job_id ON job (queue, id);
CREATE INDEX IF NOT EXISTS job_waiting ON job (queue, place) WHERE state = 'waiting';
CREATE INDEX IF NOT EXISTS job_taken ON job (queue) WHERE state = 'taken';
CREATE INDEX IF NOT EXISTS job_snoozed ON job (queue, due_at) WHERE state = 'snoozed';
CREATE INDEX IF NOT EXISTS job_ended ON job (queue, ended_at) WHERE state = 'ended';
`;
