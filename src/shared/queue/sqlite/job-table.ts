import type { SQLOutputValue } from 'node:sqlite';
import type { JobJson, JobState, JobType } from 'bullmq';
import type { Database } from '../../store/embedded/file/database.ts';

type Row = Record<string, SQLOutputValue>;
type Value = string | number | null;

/** A job as BullMQ reads it, from its whole row. */
export function jobJson(row: Row): JobJson {
  const text = (name: string, otherwise = '') => (row[name] === null ? otherwise : String(row[name]));
  const whole = (name: string) => Number(row[name]);
  const isSet = (name: string) => row[name] !== null;
  return {
    ...{ id: text('id'), name: text('name'), data: text('data'), opts: JSON.parse(text('opts')) },
    ...{ timestamp: whole('added_at'), progress: JSON.parse(text('progress', '0')), priority: whole('priority') },
    ...{ attemptsMade: whole('attempts_made'), attemptsStarted: whole('attempts_started') },
    ...{ stalledCounter: whole('stalled'), failedReason: text('failed_reason'), stacktrace: text('stacktrace', '[]') },
    returnvalue: text('return_value', 'null'),
    delay: isSet('due_at') ? Math.max(0, whole('due_at') - whole('added_at')) : 0,
    ...(isSet('processed_at') && { processedOn: whole('processed_at') }),
    ...(isSet('processed_by') && { processedBy: text('processed_by') }),
    ...(isSet('finished_at') && { finishedOn: whole('finished_at') }),
  };
}

/** Which rows are in a state as BullMQ names it, and in which order they are listed. A prioritized job waits with a priority above 0. */
const STATES = new Map<JobType, { where: string; order: string }>([
  ['wait', { where: `state = 'waiting' AND priority = 0`, order: 'place' }],
  ['waiting', { where: `state = 'waiting' AND priority = 0`, order: 'place' }],
  ['prioritized', { where: `state = 'waiting' AND priority > 0`, order: 'priority, place' }],
  ['active', { where: `state = 'active'`, order: 'processed_at, seq' }],
  ['delayed', { where: `state = 'delayed'`, order: 'due_at' }],
  ['completed', { where: `state = 'completed' AND finished_at IS NOT NULL`, order: 'finished_at' }],
  ['failed', { where: `state = 'failed' AND finished_at IS NOT NULL`, order: 'finished_at' }],
]);
/** BullMQ turns what it asked for in ascending order round itself, of these. */
const TURNED_ROUND = new Set<JobType>(['wait', 'waiting', 'active']);
const NONE = { where: 'FALSE', order: 'seq' };
const stateNamed = (type: JobType) => STATES.get(type) ?? NONE;

/** How many old jobs are removed at once, and how often they are looked for. */
const REMOVED_AT_ONCE = 1000;
const REMOVED_EVERY_MS = 1000;

type NewJob = { id: string; name: string; data: string; opts: object; addedAt: number } & {
  priority: number;
  dueAt: number | null;
  isFirst: boolean;
};
export type Finished = { state: 'completed' | 'failed'; at: number } & {
  returnValue: string | null;
  reason: string | null;
  stacktrace: string | null;
};
type Cleaning = { limit?: number; isKept?: (id: string) => boolean };
type Range = { first: number; last: number; ascending: boolean };

export type JobTable = ReturnType<typeof createJobTable>;

/** The jobs of one queue. To be used within a transaction, or a look. */
export function createJobTable(database: Pick<Database, 'statement'>, queue: string) {
  const rows = rowsOf(database, queue);
  const places = placesOf(rows);
  return {
    ...adding(rows, places),
    ...taking(rows, places),
    ...changing(rows, places),
    ...removing(rows),
    ...listing(rows),
    ...meta(rows),
  };
}

type Rows = ReturnType<typeof rowsOf>;

/** Statements whose first parameter is the queue. */
function rowsOf({ statement }: Pick<Database, 'statement'>, queue: string) {
  const all = (sql: string, ...values: Value[]): Row[] => statement(sql).all(queue, ...values);
  return {
    all,
    one: (sql: string, ...values: Value[]): Row | undefined => statement(sql).get(queue, ...values),
    /** How many rows it changed. */
    run: (sql: string, ...values: Value[]) => Number(statement(sql).run(queue, ...values).changes),
    ids: (sql: string, ...values: Value[]) => all(sql, ...values).map(({ id }) => String(id)),
    count: (sql: string, ...values: Value[]) => Number(statement(sql).get(queue, ...values)?.n),
  };
}

type Places = ReturnType<typeof placesOf>;

/** Where jobs stand: the lowest place of a priority is next. Counted in memory, because this process alone gives places. */
function placesOf({ one }: Rows) {
  let ends: { first: number; last: number } | undefined;
  function read(): { first: number; last: number } {
    if (ends) return ends;
    const row = one('SELECT MIN(place) AS first, MAX(place) AS last FROM job WHERE queue = ?');
    ends = { first: Math.min(0, Number(row?.first ?? 0)), last: Math.max(0, Number(row?.last ?? 0)) };
    return ends;
  }
  return {
    first(): number {
      read().first--;
      return read().first;
    },
    last(): number {
      read().last++;
      return read().last;
    },
  };
}

function adding({ run, count }: Rows, places: Places) {
  return {
    /** Changes nothing when there is one of this id already. */
    add({ id, name, data, opts, addedAt, priority, dueAt, isFirst }: NewJob): void {
      run(
        `INSERT INTO job (queue, id, state, place, priority, due_at, name, data, opts, added_at)
        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
        ...[
          id,
          dueAt === null ? 'waiting' : 'delayed',
          isFirst ? places.first() : places.last(),
          priority,
          dueAt,
          name,
          data,
        ],
        ...[JSON.stringify(opts), addedAt],
      );
    },
    nextId: () =>
      String(count(`SELECT COALESCE(MAX(seq), 0) + 1 AS n FROM sqlite_sequence WHERE name = 'job' AND ? IS NOT NULL`)),
  };
}

function taking({ run, one, ids }: Rows, places: Places) {
  const promote = (id: string): boolean =>
    run(
      `UPDATE job SET state = 'waiting', due_at = NULL, place = ?2 WHERE queue = ?1 AND id = ?3 AND state = 'delayed'`,
      places.last(),
      id,
    ) === 1;
  return {
    promote,
    /** Takes the job that is next. */
    take: (now: number, by: string | null): Row | undefined =>
      one(
        `UPDATE job SET state = 'active', attempts_started = attempts_started + 1, processed_at = ?2, processed_by = ?3
        WHERE seq = (SELECT seq FROM job WHERE queue = ?1 AND state = 'waiting' ORDER BY priority, place LIMIT 1) RETURNING *`,
        ...[now, by],
      ),
    isWaiting: (): boolean => one(`SELECT 1 FROM job WHERE queue = ? AND state = 'waiting' LIMIT 1`) !== undefined,
    /** When the next delayed job is due; undefined when there is none. */
    nextDueAt(): number | undefined {
      const row = one(`SELECT due_at FROM job WHERE queue = ? AND state = 'delayed' ORDER BY due_at LIMIT 1`);
      return row && Number(row.due_at);
    },
    /** A delayed job whose time has come joins the end of the waiting ones. */
    promoteDue(now: number): void {
      const due = ids(
        `SELECT id FROM job WHERE queue = ? AND state = 'delayed' AND due_at <= ? ORDER BY due_at, seq`,
        now,
      );
      for (const id of due) promote(id);
    },
  };
}

function changing({ run }: Rows, places: Places) {
  return {
    /** False when it is not active. */
    finish: (id: string, { state, at, returnValue, reason, stacktrace }: Finished): boolean =>
      run(
        `UPDATE job SET state = ?2, finished_at = ?3, return_value = ?4, failed_reason = COALESCE(?5, failed_reason),
          stacktrace = COALESCE(?6, stacktrace), attempts_made = attempts_made + 1
        WHERE queue = ?1 AND id = ?7 AND state = 'active'`,
        ...[state, at, returnValue, reason, stacktrace, id],
      ) === 1,
    /** An active job waits again, before all others or behind them. */
    giveBack: (id: string, { stalled = 0, attempts = 0, isFirst = true }): boolean =>
      run(
        `UPDATE job SET state = 'waiting', place = ?2, stalled = stalled + ?3, attempts_made = attempts_made + ?4
        WHERE queue = ?1 AND id = ?5 AND state = 'active'`,
        ...[isFirst ? places.first() : places.last(), stalled, attempts, id],
      ) === 1,
    /** An active job waits until then. */
    delay: (id: string, dueAt: number, attempts: number): boolean =>
      run(
        `UPDATE job SET state = 'delayed', due_at = ?2, attempts_made = attempts_made + ?3
        WHERE queue = ?1 AND id = ?4 AND state = 'active'`,
        ...[dueAt, attempts, id],
      ) === 1,
    /** Why the last attempt failed. */
    setFailure: (id: string, reason: string | null, stacktrace: string | null) =>
      run(
        `UPDATE job SET failed_reason = COALESCE(?2, failed_reason), stacktrace = COALESCE(?3, stacktrace)
        WHERE queue = ?1 AND id = ?4`,
        ...[reason, stacktrace, id],
      ),
    setData: (id: string, data: string) => run('UPDATE job SET data = ?2 WHERE queue = ?1 AND id = ?3', data, id) === 1,
    setProgress: (id: string, progress: string) =>
      run('UPDATE job SET progress = ?2 WHERE queue = ?1 AND id = ?3', progress, id) === 1,
  };
}

function removing({ run, ids }: Rows) {
  const removedAt = { completed: 0, failed: 0 };
  const finished = 'SELECT seq FROM job WHERE queue = ? AND state = ? AND finished_at IS NOT NULL';
  return {
    remove: (id: string) => run('DELETE FROM job WHERE queue = ? AND id = ?', id),
    removeAll: () => run('DELETE FROM job WHERE queue = ?'),
    /** Removes what ended longer than `seconds` ago: once in a while. */
    removeOld(state: 'completed' | 'failed', seconds: number, now: number): void {
      if (now - removedAt[state] < REMOVED_EVERY_MS) return;
      removedAt[state] = now;
      run(
        `DELETE FROM job WHERE seq IN (${finished} AND finished_at <= ? ORDER BY finished_at LIMIT ${REMOVED_AT_ONCE})`,
        ...[state, now - seconds * 1000],
      );
    },
    /** Removes all but the newest that ended. */
    removeAllBut: (state: 'completed' | 'failed', newest: number) =>
      run(
        `DELETE FROM job WHERE seq IN (${finished} ORDER BY finished_at DESC, seq DESC LIMIT -1 OFFSET ?)`,
        ...[state, newest],
      ),
    /** Removes jobs of a state that were added, or ended, until then. */
    clean(type: JobType, until: number, { limit = 0, isKept }: Cleaning = {}): string[] {
      const when = type === 'completed' || type === 'failed' ? 'finished_at' : 'COALESCE(processed_at, added_at)';
      const sql = `SELECT id FROM job WHERE queue = ? AND ${stateNamed(type).where} AND ${when} <= ? ORDER BY ${when}`;
      const all = ids(limit > 0 ? `${sql} LIMIT ${Math.floor(limit)}` : sql, until);
      const gone = isKept ? all.filter((id) => !isKept(id)) : all;
      for (const id of gone) run('DELETE FROM job WHERE queue = ? AND id = ?', id);
      return gone;
    },
  };
}

function listing({ one, ids, count }: Rows) {
  const countAll = (type: JobType) =>
    count(`SELECT COUNT(*) AS n FROM job WHERE queue = ? AND ${stateNamed(type).where}`);
  return {
    find: (id: string): Row | undefined => one('SELECT * FROM job WHERE queue = ? AND id = ?', id),
    /** The state as BullMQ names it. */
    stateOf(id: string): JobState | undefined {
      const row = one('SELECT state, priority FROM job WHERE queue = ? AND id = ?', id);
      if (!row) return undefined;
      return row.state === 'waiting' && Number(row.priority) > 0 ? 'prioritized' : (String(row.state) as JobState);
    },
    /** How it ended, as far as it has. */
    ending: (id: string): Row | undefined =>
      one('SELECT state, return_value, failed_reason FROM job WHERE queue = ? AND id = ?', id),
    active: () => ids(`SELECT id FROM job WHERE queue = ? AND state = 'active'`),
    count: countAll,
    countDue: (before: number) =>
      count(`SELECT COUNT(*) AS n FROM job WHERE queue = ? AND state = 'delayed' AND due_at < ?`, before),
    countOf: (priority: number) =>
      count(`SELECT COUNT(*) AS n FROM job WHERE queue = ? AND state = 'waiting' AND priority = ?`, priority),
    isIn: (type: JobType, id: string) =>
      one(`SELECT 1 FROM job WHERE queue = ? AND ${stateNamed(type).where} AND id = ?`, id) !== undefined,
    /** The ids from `first` to `last`, both included, the newest first unless `ascending`; negative numbers count from the end. */
    range(type: JobType, { first, last, ascending }: Range): string[] {
      const total = last < 0 || first < 0 ? countAll(type) : 0;
      const from = first < 0 ? Math.max(0, total + first) : first;
      const to = last < 0 ? total + last : last;
      if (to < from) return [];
      const { where, order } = stateNamed(type);
      const direction = ascending ? 'ASC' : 'DESC';
      const ordered = order.replaceAll(/\w+/g, (column) => `${column} ${direction}`);
      const found = ids(
        `SELECT id FROM job WHERE queue = ? AND ${where} ORDER BY ${ordered} LIMIT ? OFFSET ?`,
        to - from + 1,
        from,
      );
      return ascending && TURNED_ROUND.has(type) ? found.reverse() : found;
    },
  };
}

function meta({ all, run, one }: Rows) {
  const setMeta = (field: string, value: string) =>
    run('INSERT INTO queue_meta VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value', field, value);
  const removeMeta = (field: string) => run('DELETE FROM queue_meta WHERE queue = ? AND field = ?', field);
  return {
    setMeta,
    removeMeta,
    meta(): Record<string, string> {
      const rows = all('SELECT field, value FROM queue_meta WHERE queue = ?');
      return Object.fromEntries(rows.map(({ field, value }) => [String(field), String(value)]));
    },
    removeAllMeta: () => run('DELETE FROM queue_meta WHERE queue = ?'),
    isPaused: (): boolean => one(`SELECT 1 FROM queue_meta WHERE queue = ? AND field = 'paused'`) !== undefined,
  };
}

const TYPES: readonly JobType[] = ['wait', 'waiting', 'active', 'completed', 'failed', 'delayed', 'prioritized'];

/** The type of jobs in a state, as BullMQ names it. */
export function typeOf(state: string): JobType {
  return TYPES.find((known) => known === state) ?? 'waiting-children'; // no job is in that one
}
