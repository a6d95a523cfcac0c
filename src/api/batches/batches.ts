import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import {
  BATCH_VERSION,
  type Batch,
  type BatchProgress,
  type ItemHead,
  itemNumber,
  MAX_ITEMS,
  placeOfItem,
} from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import type { Verdict } from '../../shared/cases/verdict.ts';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import type { ReportedItem } from '../../shared/reports/reported.ts';
import { batchLimitsOf, type Settings } from '../../shared/runtime/settings.ts';
import { CASES_PER_CHUNK } from '../../shared/store/batch-store.ts';
import { type JobQueue, type QueueBackend, queueNames } from '../../shared/store/queue-backend.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { Problem } from '../calls/read-request.ts';
import type { SavedCases } from '../cases/saved-cases.ts';
import type { Numbered } from './batch-bodies.ts';
import { type BatchRequest, EVERY_CLIENT } from './read-batch-request.ts';

/** A batch that was taken, perhaps by an earlier call under the same key; or why it was not. */
export type Taken =
  | { kind: 'taken'; batchId: string }
  | { kind: 'bad'; problems: Problem[] }
  | { kind: 'other-body' }
  | { kind: 'refused'; status: 404 | 410 | 422 | 503; error: string };

type Found = { batch: Batch; progress: BatchProgress };
export type ItemFilter = {
  target?: string | undefined;
  verdict?: Verdict | undefined;
  differs: boolean;
  after: number;
  limit: number;
};
type ListFilter = { app: number | undefined; ruleId: string | undefined; apps: ReadonlySet<number> | null };
type By = { keyName: string | null; key: string | undefined; body: Uint8Array };

const KEY_SECONDS = 24 * 3600;
const HEADS_AT_ONCE = 1000;
const LOOK_MS = 200;

type Dependencies = { backend: QueueBackend; ask: AskWorker['ask']; savedCases: SavedCases; settings: Settings };
export type Batches = ReturnType<typeof openBatches>;

/** Batches as a resource. The API keeps and reads them; workers run them. */
export function openBatches({ backend, ask, savedCases, settings }: Dependencies) {
  const store = backend.openBatches(batchLimitsOf(settings));
  const queue: JobQueue<{ batchId: string }, null> = backend.openQueue(queueNames.batches);
  queue.on('error', () => {}); // the health of the executions' queue reports the same fault

  async function create(request: BatchRequest, { keyName, key, body }: By): Promise<Taken> {
    const batchId = randomUUID();
    const note = { batchId, digest: createHash('sha256').update(body).digest('hex') };
    const noteKey = `batch-key:${createHash('sha256')
      .update(JSON.stringify([request.app, keyName, key]))
      .digest('hex')}`;
    if (key !== undefined) {
      const kept = noteSchema.parse(
        parseJson(await backend.store.setIfAbsent(noteKey, JSON.stringify(note), KEY_SECONDS)),
      );
      if (kept.digest !== note.digest) return { kind: 'other-body' };
      if (kept.batchId !== batchId) return { kind: 'taken', batchId: kept.batchId };
    }
    const taken = await createNow(batchId, request, keyName);
    if (taken.kind !== 'taken' && key !== undefined) await backend.store.remove(noteKey);
    return taken;
  }

  async function createNow(batchId: string, request: BatchRequest, keyName: string | null): Promise<Taken> {
    const sourced = await casesOf(request);
    if (sourced.kind !== 'cases') return sourced;
    const targets = await resolved(request.targets ?? sourced.targets, request.app);
    if (targets.kind !== 'targets') return targets;
    const { cases } = sourced;
    const items = cases.length * targets.targets.length;
    if (cases.length === 0) return { kind: 'bad', problems: [{ field: 'cases', message: 'holds nothing to run' }] };
    if (items > MAX_ITEMS) {
      const message = `and targets make ${items} runs, which is more than ${MAX_ITEMS}`;
      return { kind: 'bad', problems: [{ field: 'cases', message }] };
    }
    const { app, ruleId, confId, concurrency, stopAfterFailures, file } = request;
    const from = request.source.kind === 'from' ? request.source.batchId : null;
    const batch: Batch = {
      ...{ v: BATCH_VERSION, batchId, app, ruleId, confId, targets: targets.targets, cases: cases.length },
      ...{ concurrency, stopAfterFailures, keyName, createdAt: Date.now(), file, etag: sourced.etag, from },
    };
    switch (await store.create(batch, cases)) {
      case 'too-many':
        return refused(
          503,
          `${settings.MAX_BATCHES} batches are running already (MAX_BATCHES). Nothing of this one ran. Wait for one to end, or cancel one.`,
        );
      case 'no-room':
        return refused(
          503,
          'There is no room for this batch beside those that are kept (BATCH_BYTES). Nothing of it ran.',
        );
      case 'created':
        // If this fails, a worker finds a running batch without a job, and adds it.
        await queue.add('run', { batchId }, { jobId: batchId }).catch(() => {});
        return { kind: 'taken', batchId };
    }
  }

  async function casesOf({ app, ruleId, confId, source }: BatchRequest): Promise<Sourced> {
    switch (source.kind) {
      case 'given':
        return { kind: 'cases', cases: source.cases, targets: ['all'], etag: null };
      case 'saved': {
        const saved = await savedCases.document({ app, ruleId, confId });
        if (saved.kind === 'refused') return saved;
        const cases = saved.document.cases.map((one) => ({ ...one, ts: one.ts ?? source.ts }));
        return { kind: 'cases', cases, targets: ['all'], etag: saved.etag };
      }
      case 'from': {
        const found = await store.read(source.batchId);
        if (found === 'gone') return refused(410, goneBatch(source.batchId));
        if (found?.batch.app !== app) return refused(404, unknownBatch(source.batchId));
        const wanted = new Set<number>();
        for (const { n, head } of await allHeads(found.batch)) {
          if (source.verdicts.includes(head.verdict)) wanted.add(placeOfItem(found.batch, n).caseIndex);
        }
        const cases = (await allCases(found.batch)).filter((_, index) => wanted.has(index));
        return { kind: 'cases', cases, targets: found.batch.targets, etag: found.batch.etag };
      }
    }
  }

  /** `client:*` stands for each client that is online now. */
  async function resolved(
    targets: string[],
    app: number,
  ): Promise<{ kind: 'targets'; targets: string[] } | Extract<Taken, { kind: 'refused' }>> {
    if (!targets.includes(EVERY_CLIENT)) return { kind: 'targets', targets };
    const reply = await ask({ v: QUERY_VERSION, ask: 'clients', app });
    if (reply.kind === 'refused') return refused(503, reply.error);
    const { clients } = clientsSchema.parse(parseJson(reply.body));
    const online = clients.filter(({ state }) => state !== 'offline').map(({ address }) => `address:${address}`);
    if (online.length === 0)
      return refused(503, `Nobody is online for app ${app}: ${EVERY_CLIENT} stands for no client. Nothing ran.`);
    return {
      kind: 'targets',
      targets: [...new Set(targets.flatMap((target) => (target === EVERY_CLIENT ? online : [target])))],
    };
  }

  async function allCases({ batchId, cases }: Batch): Promise<Case[]> {
    const chunks = Array.from({ length: Math.ceil(cases / CASES_PER_CHUNK) }, (_, chunk) =>
      store.cases(batchId, chunk),
    );
    return (await Promise.all(chunks)).flat();
  }

  async function allHeads({ batchId, cases, targets }: Batch): Promise<{ n: number; head: ItemHead }[]> {
    const all: { n: number; head: ItemHead }[] = [];
    const last = cases * targets.length;
    for (let first = 1; first <= last; first += HEADS_AT_ONCE) {
      const heads = await store.heads(batchId, first, Math.min(last, first + HEADS_AT_ONCE - 1));
      all.push(...heads.map((head, index) => ({ n: first + index, head })));
    }
    return all;
  }

  return {
    create,
    read: store.read,

    /** The newest first, at most 100 of an app and rule. */
    async list({ app, ruleId, apps }: ListFilter): Promise<Found[]> {
      const found: Found[] = [];
      for (const batchId of await store.list()) {
        const one = await store.read(batchId);
        if (one === null || one === 'gone' || (apps && !apps.has(one.batch.app))) continue;
        const isWanted =
          (app === undefined || one.batch.app === app) && (ruleId === undefined || one.batch.ruleId === ruleId);
        if (isWanted) found.push(one);
        if (found.length === 100) break;
      }
      return found;
    },

    /** A page of items in their order, and where the next one begins. */
    async items(
      batch: Batch,
      { target, verdict, differs, after, limit }: ItemFilter,
    ): Promise<{ items: Numbered[]; next: number | null }> {
      const heads = await allHeads(batch);
      const unlike = differs ? casesThatDiffer(batch, heads) : null;
      const wanted = heads.filter(({ n, head }) => {
        const { caseIndex, targetIndex } = placeOfItem(batch, n);
        if (n <= after || (verdict !== undefined && head.verdict !== verdict)) return false;
        return (
          (target === undefined || batch.targets[targetIndex] === target) && (unlike === null || unlike.has(caseIndex))
        );
      });
      const page = wanted.slice(0, limit);
      const chunks = new Map<number, Promise<Case[]>>();
      const items = await Promise.all(
        page.map(async ({ n, head }) => {
          const { caseIndex } = placeOfItem(batch, n);
          const chunk = Math.floor(caseIndex / CASES_PER_CHUNK);
          const cases = chunks.get(chunk) ?? store.cases(batch.batchId, chunk);
          chunks.set(chunk, cases);
          return { n, head, one: (await cases)[caseIndex % CASES_PER_CHUNK] ?? { name: '', line: null } };
        }),
      );
      return { items, next: wanted.length > limit ? (page.at(-1)?.n ?? null) : null };
    },

    /** One item whole, or null when the batch has no such number. */
    async item(batch: Batch, n: number) {
      if (n < 1 || n > batch.cases * batch.targets.length) return null;
      const { caseIndex } = placeOfItem(batch, n);
      const cases = await store.cases(batch.batchId, Math.floor(caseIndex / CASES_PER_CHUNK));
      const one = cases[caseIndex % CASES_PER_CHUNK];
      const [head] = await store.heads(batch.batchId, n, n);
      return one && head ? { n, head, one, detail: await store.detail(batch.batchId, n) } : null;
    },

    /** Every item as reports tell it, target by target. */
    async reported(batch: Batch): Promise<ReportedItem[]> {
      const [cases, heads] = [await allCases(batch), await allHeads(batch)];
      const items: ReportedItem[] = [];
      for (const [targetIndex, target] of batch.targets.entries()) {
        for (const [caseIndex, { name, line }] of cases.entries()) {
          const n = itemNumber(batch, caseIndex, targetIndex);
          const head = heads[n - 1]?.head;
          if (!head) continue;
          const detail = head.differences > 0 ? await store.detail(batch.batchId, n) : null;
          const mockId = itemMockId(batch.batchId, caseIndex, target);
          items.push({ ...head, n, name, line, target, mockId, differences: detail?.differences ?? [] });
        }
      }
      return items;
    },

    /** How many cases reached each node, on one target or on any. */
    async coverage(
      batch: Batch,
      target: string | undefined,
    ): Promise<{ cases: number; unknown: number; nodes: Record<string, number> }> {
      const reached = new Map<string, Set<number>>();
      let unknown = 0;
      for (const { n, head } of await allHeads(batch)) {
        const { caseIndex, targetIndex } = placeOfItem(batch, n);
        if (head.outcome === null && head.verdict !== 'failed') continue;
        if (target !== undefined && batch.targets[targetIndex] !== target) continue;
        const nodes = (await store.detail(batch.batchId, n))?.nodes;
        if (!nodes) unknown++;
        for (const id of Object.keys(nodes ?? {})) reached.set(id, (reached.get(id) ?? new Set()).add(caseIndex));
      }
      return {
        cases: batch.cases,
        unknown,
        nodes: Object.fromEntries([...reached].map(([id, cases]) => [id, cases.size])),
      };
    },

    /** The progress each time it has changed, at most five times a second; the last one when the batch is over. */
    async *follow(batchId: string, signal: AbortSignal): AsyncGenerator<Found> {
      let told = '';
      while (!signal.aborted) {
        const found = await store.read(batchId).catch(() => 'unreachable' as const); // the store comes back
        if (found === null || found === 'gone') return;
        if (found !== 'unreachable' && JSON.stringify(found.progress) !== told) {
          told = JSON.stringify(found.progress);
          yield found;
          if (found.progress.state === 'finished' || found.progress.state === 'cancelled') return;
        }
        await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
      }
    },

    /** Asks for a batch to be stopped; false when it is over. */
    cancel: (batchId: string) => store.change(batchId, ['running', 'cancelling'], 'cancelling'),
    close: () => queue.close(),
  };
}

type Sourced =
  | { kind: 'cases'; cases: Case[]; targets: string[]; etag: string | null }
  | Extract<Taken, { kind: 'refused' }>;

const noteSchema = z.object({ batchId: z.string(), digest: z.string() });
const clientsSchema = z.object({ clients: z.array(z.object({ address: z.string(), state: z.string() })) });

export const unknownBatch = (batchId: string) => `There is no batch ${batchId}.`;
export const goneBatch = (batchId: string) => `Batch ${batchId} is not kept any more (BATCH_SECONDS, BATCH_BYTES).`;

/** Cases that came out differently on one target than on another. */
function casesThatDiffer(batch: Batch, heads: readonly { n: number; head: ItemHead }[]): Set<number> {
  const seen = new Map<number, Set<string>>();
  for (const { n, head } of heads) {
    if (head.verdict === 'pending' || head.verdict === 'skipped') continue;
    const { caseIndex } = placeOfItem(batch, n);
    seen.set(caseIndex, (seen.get(caseIndex) ?? new Set()).add(head.digest ?? ''));
  }
  return new Set([...seen].filter(([, { size }]) => size > 1).map(([caseIndex]) => caseIndex));
}

function refused(status: 404 | 410 | 422 | 503, error: string): Extract<Taken, { kind: 'refused' }> {
  return { kind: 'refused', status, error };
}
