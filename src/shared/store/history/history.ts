import { setImmediate } from 'node:timers/promises';
import { MAX_ITEMS } from '../../cases/batch.ts';
import {
  beginningOf,
  type ExecutionRecord,
  maskedReason,
  type Settled,
  withoutReason,
} from '../../contract/execution-record.ts';
import type { RulesOfRun } from '../../contract/rules-of-run.ts';
import { maskedWarning } from '../../contract/warning.ts';
import type { Mask } from '../../privacy/mask.ts';
import { createPrivacy, type Privacy } from '../../privacy/privacy.ts';
import type { Store } from '../key-value-store.ts';
import { type Trees, treeKey } from './trees.ts';

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

type Pinned = 'pinned' | 'unknown' | 'full';

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

/** An execution is added at most this long after its end, unless its worker died. A list that continues after an erased one rather repeats one than misses one. */
export const ADDED_WITHIN_MS = 2000;

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
  if (member === undefined) throw new BadCursor();
  return { member, at: Number(at) };
}

// The history over its parts: calls, items of batches, and what is pinned.

const PINNED_SECONDS = 10 * 365 * 86_400;

/** Items of batches have a part of their own, so that no batch evicts a call. */
export type PartName = 'calls' | 'batches' | 'pinned';

export function batchesPartOf({ count, seconds, bytes }: HistoryLimits): HistoryLimits {
  return { count: Math.max(Math.floor(count / 2), MAX_ITEMS), seconds, bytes: Math.floor(bytes / 2) };
}

export type HistoryOptions = { privacy?: Privacy; trees?: Pick<Trees, 'get'> };

type Parts = HistoryOptions & {
  open: (part: PartName, limits: HistoryLimits) => HistoryPart;
  store: Store;
  pinnedTrees: Store;
  limits: HistoryLimits;
};

const nothingHidden = createPrivacy({ MASK: new Map(), HISTORY_OFF: new Set() });

/** The history over the parts that a back end offers. */
export function openHistory({ open, store, pinnedTrees, limits, privacy = nothingHidden, trees }: Parts): History {
  const calls = open('calls', limits);
  const batches = open('batches', batchesPartOf(limits));
  // Above the limit of pins, so that no pinned execution is evicted.
  const pinned = open('pinned', { count: 2 * MAX_PINNED, seconds: PINNED_SECONDS, bytes: limits.bytes });
  const kept = createKept({ privacy, store });
  const list = (part: HistoryPart): HistoryPart['list'] => {
    return (filter) => part.list({ ...filter, notApps: privacy.off });
  };
  const get = async (mockId: string) => (await calls.get(mockId)) ?? batches.get(mockId);
  const history = {
    add: (settled: Settled, publication?: Publication) =>
      kept.add(settled.record.batchId === null ? calls : batches, settled, publication),
    get,
    result: async (mockId: string) => (await calls.result(mockId)) ?? batches.result(mockId),
    async delivered(mockId: string) {
      if ((await batches.get(mockId)) === null) await calls.delivered(mockId);
    },
    input: async (mockId: string) => (await calls.input(mockId)) ?? batches.input(mockId),
    addLateResult: (mockId: string, body: string, rules?: RulesOfRun) =>
      kept.addLate({ get, to: [calls, batches] }, mockId, body, rules),
    lateResult: async (mockId: string) => (await calls.lateResult(mockId)) ?? batches.lateResult(mockId),
    kept: () => calls.kept(),
    list: (filter: Parameters<HistoryPart['list']>[0]) => list(filter.batchId === undefined ? calls : batches)(filter),
  };
  const pins = {
    ...createPins({ history, pinned, pinnedTrees, trees, maxBytes: limits.bytes / 2, keep: kept.add }),
    get: pinned.get,
    input: pinned.input,
    result: pinned.result,
    lateResult: pinned.lateResult,
    list: list(pinned),
    addLateResult: (mockId: string, body: string, rules?: RulesOfRun) =>
      kept.addLate({ get: pinned.get, to: [pinned] }, mockId, body, rules),
  };
  return {
    ...history,
    pins,
    async erase(mockId) {
      await pins.unpin(mockId);
      await calls.erase(mockId);
      await batches.erase(mockId);
    },
  };
}

type LatePart = { get: HistoryPart['get']; to: readonly HistoryPart[] };

/**
 * Adds executions without hidden fields (MASK), and for apps in HISTORY_OFF only that they existed and how they ended, so that late answers
 * are still recognised.
 */
function createKept({ privacy, store }: { privacy: Privacy; store: Store }) {
  return {
    /** Awaits nothing before `add`: in the embedded store the record is part of the transaction that ends its job. */
    async add(part: HistoryPart, settled: Settled, publication?: Publication): Promise<void> {
      const { app, error } = settled.record;
      const short = { ...settled, record: { ...settled.record, error: error === null ? null : beginningOf(error) } };
      if (privacy.isOff(app)) return part.add(withoutData(short), publication);
      const mask = privacy.maskFor(app);
      if (mask === null) return part.add(short, publication);
      const { result } = settled;
      if ('body' in result) return part.add(masked(short, result.body, mask), publication);
      // The unmasked answer stays in the store for its caller until it expires.
      const body = store.getNow ? store.getNow(result.stored) : await store.get(result.stored);
      return part.add(masked(short, body ?? 'null', mask), publication);
    },
    async addLate({ get, to }: LatePart, mockId: string, body: string, rules?: RulesOfRun): Promise<void> {
      const record = privacy.isEmpty ? null : await get(mockId);
      if (!privacy.isEmpty && (record === null || privacy.isOff(record.app))) return;
      const shown = record === null ? body : (privacy.maskFor(record.app)?.answer(body) ?? body);
      for (const part of to) await part.addLateResult(mockId, shown, rules);
    },
  };
}

/** The answer first: values that are hidden in it are then hidden in sentences as well. */
function masked({ record, input }: Settled, body: string, mask: Mask): Settled {
  const shown = { input: mask.data(input), result: { body: mask.answer(body) } };
  const warnings = record.warnings.map((warning) => maskedWarning(warning, mask.text));
  return { ...shown, record: { ...maskedReason(record, mask), warnings } };
}

function withoutData({ record }: Settled): Settled {
  return { record: { ...withoutReason(record), warnings: [] }, input: '', result: { body: '' } };
}

type PinsParts = {
  history: Pick<HistoryPart, 'get' | 'input' | 'result' | 'lateResult'>;
  pinned: HistoryPart;
  pinnedTrees: Store;
  trees: HistoryOptions['trees'];
  maxBytes: number;
  keep: (part: HistoryPart, settled: Settled) => Promise<void>;
};

const pinnedTreeKey = ({ app, rules }: Pick<ExecutionRecord, 'app' | 'rules'>): string | null =>
  rules?.digest ? `tree-of-pinned:${treeKey(app, rules.digest)}` : null;

function createPins({ history, pinned, pinnedTrees, trees, maxBytes, keep }: PinsParts) {
  async function treeOf(record: Pick<ExecutionRecord, 'app' | 'rules'>): Promise<string | null> {
    const { app, rules } = record;
    const shared = rules?.digest ? await trees?.get(treeKey(app, rules.digest)) : null;
    const key = pinnedTreeKey(record);
    return shared ?? (key === null ? null : pinnedTrees.get(key));
  }

  /** The bytes of the trees of all pinned executions except one. Reads all of them, because pinning is rare. */
  async function bytesOfTrees(except: string | null): Promise<number> {
    const { records } = await pinned.list({ limit: 2 * MAX_PINNED });
    const keys = new Set(records.flatMap((record) => pinnedTreeKey(record) ?? []));
    let bytes = 0;
    for (const key of keys) if (key !== except) bytes += (await pinnedTrees.get(key))?.length ?? 0;
    return bytes;
  }

  return {
    treeOf,
    /** Removes the tree with the last pinned execution that ran on it. */
    async unpin(mockId: string): Promise<void> {
      const record = await pinned.get(mockId);
      await pinned.erase(mockId);
      const key = record && pinnedTreeKey(record);
      if (!record || !key) return;
      const { records } = await pinned.list({ app: record.app, limit: 2 * MAX_PINNED });
      if (!records.some((other) => pinnedTreeKey(other) === key)) await pinnedTrees.remove(key);
    },
    async pin(mockId: string): Promise<Pinned> {
      if ((await pinned.get(mockId)) !== null) return 'pinned';
      const record = await history.get(mockId);
      if (record === null) return 'unknown';
      const [input, body, late, tree] = await Promise.all([
        history.input(mockId),
        history.result(mockId),
        record.lateResult ? history.lateResult(mockId) : null,
        treeOf(record),
      ]);
      const bytes = [input, body, late, tree].reduce((sum, text) => sum + (text ?? '').length, 0);
      const present = await pinned.kept();
      const key = pinnedTreeKey(record);
      const ofTrees = await bytesOfTrees(key);
      if (present.executions >= MAX_PINNED || present.bytes + ofTrees + bytes > maxBytes) return 'full';
      if (tree !== null && key !== null) await pinnedTrees.setIfAbsent(key, tree, PINNED_SECONDS);
      await keep(pinned, {
        record: { ...record, lateResult: false },
        input: input ?? '',
        result: { body: body ?? '' },
      });
      if (late !== null) await pinned.addLateResult(mockId, late);
      return 'pinned';
    },
  };
}
