import { setTimeout as sleep } from 'node:timers/promises';
import type { Batch, BatchProgress, ItemDetail, ItemHead } from '../../shared/cases/batch.ts';
import { queueNames } from '../../shared/contract/queue-names.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { batchLimitsOf, type Settings } from '../../shared/runtime/settings/settings.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import { type Trees, treeKey } from '../../shared/store/history/trees.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { SavedCases } from '../cases/saved-cases.ts';
import { createDecidedBy } from '../executions/decided-by.ts';
import type { Executions } from '../executions/executions.ts';
import { type Condition, hiddenIn } from '../executions/search/search-conditions.ts';
import { createCreateBatch } from './create-batch.ts';
import { createEraseItem } from './erase-item.ts';
import { coverageOf, type ItemFilter, item, items, reported } from './items.ts';
import type { BatchListParameters } from './parameters.ts';
import { allHeads } from './whole-batch.ts';

type Found = { batch: Batch; progress: BatchProgress };
type Page = { items: Found[]; nextCursor: string | null };
type ListFilter = BatchListParameters & { apps: ReadonlySet<number> | null };

const CHECK_MS = 200;

type BatchesDependencies = {
  backend: QueueBackend;
  trees: Trees;
  ask: AskWorker['ask'];
  executions: Pick<Executions, 'get'>;
  savedCases: SavedCases;
  privacy: Privacy;
  settings: Settings;
};
export type Batches = ReturnType<typeof openBatches>;

/** Batches as a resource. The API keeps and reads them; workers run them. */
export function openBatches(dependencies: BatchesDependencies) {
  const { backend, trees, privacy, settings } = dependencies;
  const store = backend.openBatches(batchLimitsOf(settings));
  const queue = backend.openQueue<{ batchId: string }>(queueNames.batches); // the health of the executions' queue reports its faults

  return {
    store,
    create: createCreateBatch({ ...dependencies, store, queue }),
    read: store.read,
    list: (filter: ListFilter) => list(filter, store),
    items: (batch: Batch, filter: ItemFilter) => items(batch, filter, { store, privacy }),
    decidedBy: (batch: Batch) => decidedByIn(batch, trees),
    /** The fault of conditions on masked values; null if there is none. */
    hiddenIn: ({ app }: Batch, where: readonly Condition[]) => hiddenIn(where, privacy.maskFor(app)),
    item: (batch: Batch, n: number) => item(batch, n, { store, privacy }),
    reported: (batch: Batch) => reported(batch, { store, privacy }),
    coverage: async (batch: Batch, target: string | undefined) =>
      coverageOf(batch, await allHeads(batch, store), { target, store }),
    follow: (batchId: string, signal: AbortSignal) => follow(batchId, store, signal),
    /** Requests that a batch stops; false when it has ended. */
    eraseItem: createEraseItem(store),
    cancel: (batchId: string) => store.change(batchId, ['running', 'cancelling'], 'cancelling'),
    close: () => queue.close(),
  };
}

/** A page of batches, the newest first. The cursor is the last one of the page before; null when that is not kept any more. */
async function list({ app, ruleId, apps, limit, cursor }: ListFilter, store: BatchStore): Promise<Page | null> {
  const all = await store.list();
  const after = cursor === undefined ? 0 : all.indexOf(cursor) + 1;
  if (cursor !== undefined && after === 0) return null;
  const found: Found[] = [];
  for (const batchId of all.slice(after)) {
    const one = await store.read(batchId);
    if (one === null || one === 'gone' || (apps && !apps.has(one.batch.app))) continue;
    const isWanted =
      (app === undefined || one.batch.app === app) && (ruleId === undefined || one.batch.ruleId === ruleId);
    if (isWanted && found.length === limit) return { items: found, nextCursor: found.at(-1)?.batch.batchId ?? null };
    if (isWanted) found.push(one);
  }
  return { items: found, nextCursor: null };
}

/** The progress each time it has changed, at most five times a second; the last one when the batch is over. */
async function* follow(batchId: string, store: BatchStore, signal: AbortSignal): AsyncGenerator<Found> {
  let sent = '';
  while (!signal.aborted) {
    const found = await store.read(batchId).catch(() => 'unreachable' as const); // retried: the store comes back
    if (found === null || found === 'gone') return;
    if (found !== 'unreachable' && JSON.stringify(found.progress) !== sent) {
      sent = JSON.stringify(found.progress);
      yield found;
      if (found.progress.state === 'finished' || found.progress.state === 'cancelled') return;
    }
    await sleep(CHECK_MS, undefined, { signal }).catch(() => {});
  }
}

type DecidedBy = (item: { head: ItemHead; detail: ItemDetail | null }) => Promise<NamedNode | null>;

function decidedByIn({ app }: Batch, trees: Trees): DecidedBy {
  const decidedBy = createDecidedBy(({ rules }) => trees.get(treeKey(app, rules?.digest ?? '')));
  return async ({ head: { rules, outcome }, detail }) =>
    outcome === null ? null : decidedBy({ app, rules }, detail?.nodes ?? null);
}
