import { parseExact } from '../../shared/contract/json/exact-json.ts';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { digits, field, flag, list, number, oneOf, text } from '../../shared/contract/json/read-exact.ts';
import { get, request, withQuery } from './request.ts';

const BATCHES = '/rule-server/mock/batches';

/** The verdict of a case on a target, the worst first. */
export const verdicts = [
  ...(['unanswered', 'error', 'failed', 'changed', 'noise', 'not-checked'] as const),
  ...(['skipped', 'pending', 'ran', 'same', 'passed'] as const),
] as const;
export type Verdict = (typeof verdicts)[number];
type Counts = Record<Verdict, number>;

const batchStates = ['running', 'cancelling', 'cancelled', 'finished'] as const;

export type Batch = {
  batchId: string;
  ruleId: string | null;
  confId: string | null;
  /** How many cases; there are as many items for each target. */
  cases: number;
  items: number;
  createdAt: number;
  endedAt: number | null;
  /** The state of the saved cases that it runs; null when its cases were given. */
  etag: string | null;
  /** The file that its cases were read from; null when they came from elsewhere. */
  file: string | null;
  /** The batch whose cases this one runs again, in part. */
  from: string | null;
  /** What its runs are compared with: `recorded` runs, or a target; null: expectations. */
  against: string | null;
  /** Its runs have no effects. */
  dryRun: boolean;
  state: (typeof batchStates)[number];
  counts: Counts;
  targets: { target: string; counts: Counts }[];
};

export const isOver = ({ state }: Batch) => state === 'finished' || state === 'cancelled';

/** Begins a batch and tells how it stands; the same body under the same key begins one batch. */
export async function beginBatch(
  { path = BATCHES, type, body }: { path?: string; type: string; body: string },
  key: string,
): Promise<Batch> {
  const headers = { 'content-type': type, 'idempotency-key': key };
  return readBatch(parseExact((await request(path, { method: 'POST', body, headers })).text));
}

/** The path to which a CSV of inputs is sent. Its query has what the rows do not say. */
export function csvPath({
  targets,
  ...query
}: {
  app: string;
  ruleId: string | null;
  confId: string | null;
  targets: string[];
  dryRun: string;
  invalid: 'skip' | null;
  timeZone: string;
}) {
  const path = withQuery(BATCHES, query);
  return `${path}${targets.map((target) => `&targets=${encodeURIComponent(target)}`).join('')}`;
}

export function listBatches(app: string, ruleId: string | null, signal?: AbortSignal): Promise<Batch[]> {
  return get(withQuery(BATCHES, { app, ruleId }), (answer) => list(field(answer, 'items')).map(readBatch), signal);
}

export function getBatch(batchId: string, signal?: AbortSignal): Promise<Batch> {
  return get(pathOf(batchId), readBatch, signal);
}

export async function cancelBatch(batchId: string): Promise<void> {
  await request(pathOf(batchId), { method: 'DELETE' });
}

export const reportPath = (batchId: string, format: 'junit' | 'csv') => `${pathOf(batchId)}/report?format=${format}`;
export const batchEventsPath = (batchId: string) => `${pathOf(batchId)}/events`;

/** The path of one batch. */
export function pathOf(batchId: string): string {
  return `${BATCHES}/${encodeURIComponent(batchId)}`;
}

export function readBatch(value: ExactValue): Batch {
  return {
    batchId: text(field(value, 'batchId')) ?? '',
    ruleId: digits(field(value, 'ruleId')),
    confId: digits(field(value, 'confId')),
    cases: number(field(value, 'cases')) ?? 0,
    items: number(field(value, 'items')) ?? 0,
    createdAt: number(field(value, 'createdAt')) ?? 0,
    endedAt: number(field(value, 'endedAt')),
    etag: text(field(value, 'etag')),
    file: text(field(value, 'file')),
    from: text(field(value, 'from')),
    against: text(field(value, 'against')),
    dryRun: flag(field(value, 'dryRun')),
    state: oneOf(field(value, 'state'), batchStates),
    counts: readCounts(field(value, 'counts')),
    targets: list(field(value, 'targets')).map((entry) => ({
      target: text(field(entry, 'target')) ?? 'all',
      counts: readCounts(field(entry, 'counts')),
    })),
  };
}

function readCounts(counts: ExactValue | undefined): Counts {
  const count = (verdict: Verdict) => number(field(counts, verdict)) ?? 0;
  return {
    unanswered: count('unanswered'),
    error: count('error'),
    failed: count('failed'),
    changed: count('changed'),
    noise: count('noise'),
    'not-checked': count('not-checked'),
    skipped: count('skipped'),
    pending: count('pending'),
    ran: count('ran'),
    same: count('same'),
    passed: count('passed'),
  };
}
