import type { BatchBody } from '../../shared/contract/batches.ts';
import type { Verdict } from '../../shared/contract/verdict.ts';
import { type Followed, follow } from './follow.ts';
import { readAs } from './read-answer.ts';
import { getAs, request, withQuery } from './request.ts';
import * as shapes from './shapes.ts';

export type { Verdict };
export type Batch = BatchBody;

const BATCHES = '/rule-server/mock/batches';

/** The verdicts of a case on a target, the worst first. */
export const verdicts: readonly Verdict[] = [
  ...(['unanswered', 'error', 'failed', 'changed', 'noise', 'not-checked'] as const),
  ...(['skipped', 'pending', 'ran', 'same', 'passed'] as const),
];

export const isOver = ({ state }: Batch) => state === 'finished' || state === 'cancelled';

/** Begins a batch and tells how it stands; the same body under the same key begins one batch. */
export async function beginBatch(
  { path = BATCHES, type, body }: { path?: string; type: string; body: string },
  key: string,
): Promise<Batch> {
  const headers = { 'content-type': type, 'idempotency-key': key };
  return readAs(shapes.batch, (await request(path, { method: 'POST', body, headers })).text);
}

/** The path to which cases are sent. Its query has what the body does not say. */
export const batchesPath = (query: Parameters<typeof withQuery>[1]) => withQuery(BATCHES, query);

export async function listBatches(app: string, ruleId: string | null, signal?: AbortSignal): Promise<Batch[]> {
  return (await getAs(withQuery(BATCHES, { app, ruleId, limit: '100' }), shapes.batches, signal)).items;
}

export function getBatch(batchId: string, signal?: AbortSignal): Promise<Batch> {
  return getAs(pathOf(batchId), shapes.batch, signal);
}

export async function cancelBatch(batchId: string): Promise<void> {
  await request(pathOf(batchId), { method: 'DELETE' });
}

export const reportPath = (batchId: string, format: 'junit' | 'csv') => `${pathOf(batchId)}/report?format=${format}`;

/** The path of one batch. */
export function pathOf(batchId: string): string {
  return `${BATCHES}/${encodeURIComponent(batchId)}`;
}

export type FollowedBatch = Followed<Batch>;

/** Follows a batch to its end. */
export function followBatch(batchId: string, report: (followed: FollowedBatch) => void): () => void {
  const read = (data: string) => readAs(shapes.batch, data);
  const [path, events] = [`${pathOf(batchId)}/events`, { snapshot: read, progress: read }];
  return follow({ path, events, ask: () => getBatch(batchId), isOver }, report);
}
