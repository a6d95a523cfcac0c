import { setImmediate } from 'node:timers/promises';
import { valueAt } from '../../../shared/cases/judging/value-at.ts';
import type { Step } from '../../../shared/cases/path.ts';
import { isEndState } from '../../../shared/contract/endings/states.ts';
import type { SearchProgress } from '../../../shared/contract/execution.ts';
import type { ExecutionRecord } from '../../../shared/contract/execution-record.ts';
import { parseExact } from '../../../shared/contract/json/exact-json.ts';
import { time } from '../../../shared/ports/time.ts';
import { HIDDEN } from '../../../shared/privacy/hide-at.ts';
import { cursorOf, type HistoryFilter, type HistoryPage } from '../../../shared/store/history/history.ts';
import { openCursor } from './open-cursor.ts';
import { hasWords, holds, recordFits, type Search } from './search-conditions.ts';

const READ_AT_ONCE = 50;
/** Inputs that are read together: at most 640 KiB of a history that keeps 64 KiB each. */
const MATCHED_AT_ONCE = 10;
/** The history has an execution at the latest so long after its end, also when its worker died. */
const REPAIRED_WITHIN_MS = 300_000;
/** One answer does not take longer; who asks goes on with its cursor. */
const SEARCH_MS = 400;

export type Found = HistoryPage & { searched: SearchProgress };

type Sources = {
  list: (filter: HistoryFilter) => Promise<HistoryPage>;
  /** The input as it may be shown; null when there is none. */
  inputOf: (record: ExecutionRecord) => Promise<string | null>;
};

/** Searches executions, newest first, until a page is full, all were read, or the time is over. */
export async function searchExecutions(filter: HistoryFilter, search: Search, sources: Sources): Promise<Found> {
  const records: ExecutionRecord[] = [];
  const searched: SearchProgress = { executions: 0, withoutInput: 0, until: null };
  const giveUpAt = time.monotonic() + SEARCH_MS;
  let { cursor } = filter;
  for (;;) {
    const page = await sources.list({ ...filter, cursor, limit: READ_AT_ONCE });
    for (const { record, isFound, lacksInput } of await searchRecords(page.records, search, sources)) {
      searched.executions++;
      if (lacksInput) searched.withoutInput++;
      searched.until = record.history.at(-1)?.at ?? null;
      if (isFound) records.push(record);
      if (records.length === filter.limit) return { records, searched, nextCursor: cursorAfter(record) };
    }
    if (page.nextCursor === null || areBefore(page, search)) return { records, searched, nextCursor: null };
    if (time.monotonic() > giveUpAt) return { records, searched, nextCursor: page.nextCursor };
    cursor = page.nextCursor;
    await setImmediate(); // the embedded store answers without yielding the event loop
  }
}

/** Inputs may be large: the event loop is yielded each time so many characters were read. */
const READ_IN_A_TURN = 256 * 1024;

async function searchRecords(all: readonly ExecutionRecord[], search: Search, { inputOf }: Sources) {
  const needsInput = search.where.length > 0 || search.text !== undefined;
  const looks: { record: ExecutionRecord; isFound: boolean; lacksInput: boolean }[] = [];
  let read = 0;
  for (let first = 0; first < all.length; first += MATCHED_AT_ONCE) {
    const some = await Promise.all(
      all.slice(first, first + MATCHED_AT_ONCE).map(async (record) => {
        const mayFit = recordFits(record, search);
        return { record, mayFit, shown: mayFit && needsInput ? await inputOf(record) : null };
      }),
    );
    for (const { record, mayFit, shown } of some) {
      const input = shown !== null && isHidden(shown, search) ? null : shown;
      const isFound = mayFit && inputFits(record, input, search);
      looks.push({ record, isFound, lacksInput: mayFit && needsInput && input === null });
      read += shown?.length ?? 0;
      if (read < READ_IN_A_TURN) continue;
      read = 0;
      await setImmediate();
    }
  }
  return looks;
}

/** Whether a field of the search was masked (MASK) when this input was kept: then it is unknown whether the input matches. */
function isHidden(input: string, { where }: Search): boolean {
  if (where.length === 0 || !input.includes(HIDDEN)) return false;
  const value = parseExact(input);
  // A parent of the field may be masked.
  const isHiddenAt = (steps: readonly Step[]) =>
    steps.some((_, index) => valueAt(value, steps.slice(0, index + 1)) === JSON.parse(HIDDEN));
  return where.some(({ steps }) => isHiddenAt(steps));
}

function inputFits(record: ExecutionRecord, input: string | null, { text, where }: Search): boolean {
  if (text !== undefined && !hasWords(text, record, input)) return false;
  if (where.length === 0) return true;
  if (input === null) return false;
  const value = parseExact(input);
  return where.every((condition) => holds(condition, value));
}

/**
 * They come in the order in which they were kept, a moment after they ended; one that was repaired came later. Where a whole page ended so
 * long before, none that follows was begun later.
 */
function areBefore({ records }: HistoryPage, { from }: Search): boolean {
  // A page of unreadable records is empty, and says nothing about the next page.
  if (from === undefined || records.length === 0) return false;
  return records.every(
    ({ state, history }) => isEndState(state) && (history.at(-1)?.at ?? 0) < from - REPAIRED_WITHIN_MS,
  );
}

function cursorAfter(record: ExecutionRecord): string {
  return isEndState(record.state) ? cursorOf(record) : openCursor(record);
}
