import type { ExecutionRecord } from '../../../shared/contract/execution-record.ts';

/** The end of a page of open executions: they come newest first, those of one millisecond by id. */
type Position = { queuedAt: number; mockId: string };

/** When an execution was put on the queue, epoch ms. */
const queuedAt = ({ history: [first] }: ExecutionRecord) => first?.at ?? 0;

/** Newest first. */
export function byAge(a: ExecutionRecord, b: ExecutionRecord): number {
  return queuedAt(b) - queuedAt(a) || (a.mockId < b.mockId ? -1 : 1);
}

/** The cursor of the page that follows this open execution. */
export function openCursor(record: ExecutionRecord): string {
  return Buffer.from(`@${queuedAt(record)}|${record.mockId}`).toString('base64url');
}

/** After which open execution a page begins; `beginning` without a cursor, null where the cursor is one of the history. */
export function openAfter(cursor: string | undefined): Position | 'beginning' | null {
  if (cursor === undefined) return 'beginning';
  const [, at, mockId] = /^@(\d{1,16})\|([0-9a-f-]{36})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return at === undefined || mockId === undefined ? null : { queuedAt: Number(at), mockId };
}

/** Whether an open execution comes after a position. */
export function isAfter(record: ExecutionRecord, after: Position | 'beginning'): boolean {
  if (after === 'beginning') return true;
  const at = queuedAt(record);
  return at < after.queuedAt || (at === after.queuedAt && record.mockId > after.mockId);
}
