import { setImmediate } from 'node:timers/promises';
import type { ExecutionRecord, Settled } from '../../contract/execution-record.ts';
import type { RulesOfRun } from '../../contract/rules-of-run.ts';

/** Reaching any of these limits evicts the oldest execution. */
export type HistoryLimits = { count: number; seconds: number; bytes: number };

/** Pinned executions may take half of the bytes of the history. */
export const MAX_PINNED = 1000;

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

/** `oldest`: when the next one to be evicted ended, epoch ms. */
export type Kept = { executions: number; bytes: number; oldest: number | null };

/** Published by Redis in the script that adds the record: the ending to the process that asked, an empty message to followers. */
export type Publication = { replyTo: string | undefined; message: string; followers: string };

/** One list of ended executions, newest first, bounded by count, age and bytes. Listing never loads results. */
export type HistoryPart = {
  /** `publication`: published in the same step, if the list is in Redis. */
  add(settled: Settled, publication?: Publication): Promise<void>;
  get(mockId: string): Promise<ExecutionRecord | null>;
  result(mockId: string): Promise<string | null>;
  /** The waiting call has its result, so it may be evicted from now on. */
  delivered(mockId: string): Promise<void>;
  input(mockId: string): Promise<string | null>;
  /** Adds an answer that came after the ending. `rules`: those it ran on. */
  addLateResult(mockId: string, body: string, rules?: RulesOfRun): Promise<void>;
  lateResult(mockId: string): Promise<string | null>;
  list(filter: HistoryFilter): Promise<HistoryPage>;
  kept(): Promise<Kept>;
  erase(mockId: string): Promise<void>;
};

export type Pinned = 'pinned' | 'unknown' | 'full';

/** Executions that are kept with their tree until they are unpinned or erased. */
type Pins = Pick<HistoryPart, 'get' | 'input' | 'result' | 'lateResult' | 'list' | 'addLateResult'> & {
  pin(mockId: string): Promise<Pinned>;
  unpin(mockId: string): Promise<void>;
  /** The tree of the rules that an execution ran on, as JSON text; null when it is not kept. */
  treeOf(record: Pick<ExecutionRecord, 'app' | 'rules'>): Promise<string | null>;
};

/** `kept` counts executions of callers; `erase` includes pinned ones. */
export type History = HistoryPart & { pins: Pins };

/** Inputs beyond this size are not kept: an execution can be looked at without them. */
export const MAX_INPUT_KEPT = 64 * 1024;
const SCANNED_AT_ONCE = 250;
/** After so many records without a match a page is returned empty, with a cursor, so that a list never blocks the event loop. */
const SCANNED_FOR_A_PAGE = 20_000;

/** The store's key of a large result that its history does not have yet. */
export const resultKey = (mockId: string) => `result:${mockId}`;

/** A member of the index, and what it is ordered by: when it was added, epoch ms. */
export type Indexed = { member: string; at: number };

/** Members of the index, newest first, beginning after one of them. Where that one was erased, those added at its time follow, or earlier. */
type ReadIndex = (after: Indexed | null, count: number) => Promise<Indexed[]>;

/** An execution is added at most this long after its end. A list that continues after an erased one rather repeats one than misses one. */
const ADDED_WITHIN_MS = 2000;

/** The fields of an execution in the index, so that a list is filtered without loading records. */
export function memberOf({ mockId, app, ruleId, batchId }: ExecutionRecord): string {
  return `${app}|${ruleId ?? ''}${batchId === null ? '' : `~${batchId}`}|${mockId}`;
}

/** The cursor of what follows one execution in a list. */
export const cursorOf = (record: ExecutionRecord): string =>
  printCursor({ member: memberOf(record), at: (record.history.at(-1)?.at ?? 0) + ADDED_WITHIN_MS });

/** The cursor of a list's very beginning. */
export const BEGINNING = '-';

/** Walks an index, newest first, until a page is full. Shared by both back ends. */
export async function listPage(
  { app, apps, notApps, ruleId, batchId, limit, cursor }: HistoryFilter,
  readIndex: ReadIndex,
  load: (mockIds: string[]) => Promise<(ExecutionRecord | null)[]>,
): Promise<HistoryPage> {
  let position = parseCursor(cursor);
  const found: Indexed[] = [];
  let scanned = 0;
  let isAtEnd = false;
  for (;;) {
    const members = await readIndex(position, SCANNED_AT_ONCE);
    for (const indexed of members) {
      const { member } = indexed;
      const [itsApp, ruleAndBatch = ''] = member.split('|');
      const [itsRule, itsBatch] = ruleAndBatch.split('~');
      if (batchId !== undefined && itsBatch !== batchId) continue;
      if (app !== undefined && itsApp !== String(app)) continue;
      if ((apps && !apps.has(Number(itsApp))) || notApps?.has(Number(itsApp))) continue;
      if (ruleId !== undefined && itsRule !== ruleId) continue;
      found.push(indexed);
    }
    position = members.at(-1) ?? null;
    scanned += members.length;
    isAtEnd = members.length < SCANNED_AT_ONCE;
    if (found.length > limit || isAtEnd || scanned >= SCANNED_FOR_A_PAGE) break;
    await setImmediate(); // a store in this process answers without a turn of the loop
  }
  const page = found.slice(0, limit);
  const records = await load(page.map(({ member }) => member.split('|')[2] ?? ''));
  const last = found.length > limit ? page.at(-1) : isAtEnd ? undefined : position;
  return {
    records: records.filter((record) => record !== null),
    nextCursor: last ? printCursor(last) : null,
  };
}

export class BadCursor extends Error {}

function printCursor({ member, at }: Indexed): string {
  return Buffer.from(`${member}|${at}`).toString('base64url');
}

function parseCursor(cursor: string | undefined): Indexed | null {
  if (cursor === undefined || cursor === BEGINNING) return null;
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, member, at = '0'] = /^(\d+\|\d*(?:~[\w-]+)?\|[\w-]+)(?:\|(\d{1,16}))?$/.exec(text) ?? [];
  if (member === undefined) throw new BadCursor('is not one this service gave out');
  return { member, at: Number(at) };
}
