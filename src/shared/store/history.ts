import type { ExecutionRecord, Settled } from '../contract/execution-record.ts';

/**
 * The limits of the history: how many executions it has, for how long, and in how many bytes. The first that is reached makes the oldest
 * leave.
 */
export type HistoryLimits = { count: number; seconds: number; bytes: number };

export type HistoryFilter = {
  app?: number | undefined;
  /** Only executions of these; null or nothing: of all. */
  apps?: ReadonlySet<number> | null | undefined;
  /** None of these. */
  notApps?: ReadonlySet<number> | undefined;
  ruleId?: string | undefined;
  /** Only the items of this batch; without it, none of any. */
  batchId?: string | undefined;
  limit: number;
  cursor?: string | undefined;
};
export type HistoryPage = { records: ExecutionRecord[]; nextCursor: string | null };

/** Settled executions, newest first, bounded by count, age and bytes. Listing one page never loads a result. */
export type History = {
  add(settled: Settled): Promise<void>;
  get(mockId: string): Promise<ExecutionRecord | null>;
  result(mockId: string): Promise<string | null>;
  /** The waiting call has its result: from now on it need not be readable longer than the history has room for it. */
  delivered(mockId: string): Promise<void>;
  input(mockId: string): Promise<string | null>;
  /** Keeps an answer that came after its execution had timed out. */
  addLateResult(mockId: string, body: string): Promise<void>;
  lateResult(mockId: string): Promise<string | null>;
  list(filter: HistoryFilter): Promise<HistoryPage>;
  /** Forgets an execution with everything that is kept of it. */
  erase(mockId: string): Promise<void>;
};

/** Inputs beyond this size are not kept: an execution can be looked at without them. */
export const MAX_INPUT_KEPT = 64 * 1024;
const SCANNED_AT_ONCE = 500;

/** The store's key of a large result that its history does not have yet. */
export const resultKey = (mockId: string) => `result:${mockId}`;

/** Members of the index, newest first, beginning after one of them; none when that one is not there any more. */
type ReadIndex = (after: string | null, count: number) => Promise<string[]>;

/** The fields of an execution in the index, so that a list is filtered without loading records. */
export function memberOf({ mockId, app, ruleId, batchId }: ExecutionRecord): string {
  return `${app}|${ruleId ?? ''}${batchId === null ? '' : `~${batchId}`}|${mockId}`;
}

/** The cursor of what follows one execution in a list. */
export const cursorOf = (record: ExecutionRecord): string => Buffer.from(memberOf(record)).toString('base64url');

/** The cursor of a list's very beginning. */
export const BEGINNING = '-';

/** Walks an index from the newest entry on until a page is full. Both backends list through it, so both page alike. */
export async function listPage(
  { app, apps, notApps, ruleId, batchId, limit, cursor }: HistoryFilter,
  readIndex: ReadIndex,
  load: (mockIds: string[]) => Promise<(ExecutionRecord | null)[]>,
): Promise<HistoryPage> {
  let position = parseCursor(cursor);
  const found: string[] = [];
  for (;;) {
    const members = await readIndex(position, SCANNED_AT_ONCE);
    for (const member of members) {
      const [itsApp, ruleAndBatch = ''] = member.split('|');
      const [itsRule, itsBatch] = ruleAndBatch.split('~');
      if (batchId !== undefined && itsBatch !== batchId) continue;
      if (app !== undefined && itsApp !== String(app)) continue;
      if ((apps && !apps.has(Number(itsApp))) || notApps?.has(Number(itsApp))) continue;
      if (ruleId !== undefined && itsRule !== ruleId) continue;
      found.push(member);
    }
    position = members.at(-1) ?? null;
    if (found.length > limit || members.length < SCANNED_AT_ONCE) break;
  }
  const page = found.slice(0, limit);
  const records = await load(page.map((member) => member.split('|')[2] ?? ''));
  return {
    records: records.filter((record) => record !== null),
    nextCursor: found.length > limit ? Buffer.from(page.at(-1) ?? '').toString('base64url') : null,
  };
}

/** A cursor this service did not make. */
export class BadCursor extends Error {}

function parseCursor(cursor: string | undefined): string | null {
  if (cursor === undefined || cursor === BEGINNING) return null;
  const member = Buffer.from(cursor, 'base64url').toString();
  if (!/^\d+\|\d*(?:~[\w-]+)?\|[\w-]+$/.test(member)) throw new BadCursor('is not one this service gave out');
  return member;
}
