import type { ExecutionRecord } from './execution.ts';

/** What to keep: so many executions, for so long, in so many bytes; whichever is reached first makes the oldest leave. */
export type HistoryLimits = { count: number; seconds: number; bytes: number };

/** A settled execution to remember. `result` is its answer as JSON text, or the store's key it was put under. */
export type Settled = { record: ExecutionRecord; input: string; result: { body: string } | { stored: string } };

export type HistoryFilter = {
  app?: number | undefined;
  ruleId?: string | undefined;
  limit: number;
  cursor?: string | undefined;
};
export type HistoryPage = { records: ExecutionRecord[]; nextCursor: string | null };

/** Settled executions, newest first, bounded by count, age and bytes. Listing one page never loads a result. */
export type History = {
  add(settled: Settled): Promise<void>;
  get(mockId: string): Promise<ExecutionRecord | null>;
  result(mockId: string): Promise<string | null>;
  input(mockId: string): Promise<string | null>;
  /** Keeps an answer that came after its execution had timed out. */
  addLateResult(mockId: string, body: string): Promise<void>;
  lateResult(mockId: string): Promise<string | null>;
  list(filter: HistoryFilter): Promise<HistoryPage>;
};

/** Inputs beyond this size are not kept: an execution can be looked at without them. */
export const MAX_INPUT_KEPT = 64 * 1024;
const SCANNED_AT_ONCE = 500;

/** What an index entry tells without loading the record. */
type Entry = { member: string; at: number };
type ReadEntries = (before: { at: number; after: string } | null, count: number) => Promise<Entry[]>;

export function memberOf({ mockId, app, ruleId }: ExecutionRecord): string {
  return `${app}|${ruleId ?? ''}|${mockId}`;
}

/** Walks an index from the newest entry on until a page is full. Both backends list through it, so both page alike. */
export async function listPage(
  { app, ruleId, limit, cursor }: HistoryFilter,
  readEntries: ReadEntries,
  load: (mockIds: string[]) => Promise<(ExecutionRecord | null)[]>,
): Promise<HistoryPage> {
  let position = cursor === undefined ? null : parseCursor(cursor);
  const found: Entry[] = [];
  for (;;) {
    const entries = await readEntries(position, SCANNED_AT_ONCE);
    for (const entry of entries) {
      const [entryApp, entryRule] = entry.member.split('|');
      if (app !== undefined && entryApp !== String(app)) continue;
      if (ruleId !== undefined && entryRule !== ruleId) continue;
      found.push(entry);
      if (found.length > limit) break;
    }
    const last = entries.at(-1);
    if (found.length > limit || !last || entries.length < SCANNED_AT_ONCE) break;
    position = { at: last.at, after: last.member };
  }
  const page = found.slice(0, limit);
  const records = await load(page.map(({ member }) => member.split('|')[2] ?? ''));
  const last = page.at(-1);
  return {
    records: records.filter((record) => record !== null),
    nextCursor: found.length > limit && last ? Buffer.from(`${last.at} ${last.member}`).toString('base64url') : null,
  };
}

/** A cursor this service did not make. */
export class BadCursor extends Error {}

function parseCursor(cursor: string): { at: number; after: string } {
  const match = /^(\d{1,16}) (.+)$/.exec(Buffer.from(cursor, 'base64url').toString());
  if (!match?.[1] || !match[2]) throw new BadCursor('the cursor is not one this service gave out');
  return { at: Number(match[1]), after: match[2] };
}
