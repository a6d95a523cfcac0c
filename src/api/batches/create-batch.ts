import { z } from 'zod';
import { BATCH_VERSION, type Batch, MAX_ITEMS } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import type { SetAside } from '../../shared/cases/document/refusal.ts';
import { onceOf } from '../../shared/contract/determined-id.ts';
import type { Once } from '../../shared/contract/job.ts';
import { parseJson } from '../../shared/contract/json/parse-json.ts';
import { QUERY_VERSION } from '../../shared/contract/query.ts';
import { type Client, clientListSchema } from '../../shared/contract/rules-and-clients.ts';
import { isMeant, parseTarget } from '../../shared/contract/target.ts';
import { readAs } from '../../shared/contract/wire.ts';
import { random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { Queue } from '../../shared/queue/queue.ts';
import type { QueueBackend } from '../../shared/queue/queue-backend.ts';
import { type Problem, problemAt } from '../../shared/reasons/problems.ts';
import { refused } from '../../shared/runtime/http-refusals.ts';
import type { Settings } from '../../shared/runtime/settings/settings.ts';
import type { BatchStore } from '../../shared/store/batches/batch-store.ts';
import { KEY_SECONDS } from '../../shared/store/idempotency/idempotency-records.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { SavedCases } from '../cases/saved-cases.ts';
import type { Executions } from '../executions/executions.ts';
import { type BatchRequest, EVERY_CLIENT } from './read-batch-request.ts';
import { casesOf, RECORDED } from './sourced-cases.ts';
import type { Taken } from './taken.ts';

const keyRecordSchema = z.object({ batchId: z.string(), digest: z.string() });

/** `maxRunning`: how many batches of its key may run at once. `call`: what must be the same when it is asked for again under its key. */
type By = { keyName: string | null; maxRunning: number; key: string | undefined; call: Uint8Array };
type NotStored = Exclude<Awaited<ReturnType<BatchStore['create']>>, 'created'>;
type Owner = Pick<By, 'keyName' | 'maxRunning'>;
type CreateBatchDependencies = {
  backend: QueueBackend;
  store: BatchStore;
  queue: Queue<{ batchId: string }>;
  ask: AskWorker['ask'];
  executions: Pick<Executions, 'get'>;
  savedCases: SavedCases;
  privacy: Privacy;
  settings: Settings;
};

/** Takes new batches: each is stored whole, then added to the queue. */
export function createCreateBatch(dependencies: CreateBatchDependencies) {
  const { backend, store, queue, ask, settings } = dependencies;
  return async function create(request: BatchRequest, { keyName, maxRunning, key, call }: By): Promise<Taken> {
    if (key === undefined) return createNow(random.uuid(), request, { keyName, maxRunning });
    const once = onceOf('batch', { app: request.app, keyName, key }, call);
    const known = await store.read(once.key);
    const ofKey = known !== null && known !== 'gone' && isOfToday(known.batch) ? known.batch : null;
    if (ofKey && ofKey.once?.digest !== once.digest) return { kind: 'other-body' };
    // The key determines the id, unless that is the id of a batch from an earlier day of the key.
    const record = JSON.stringify({ batchId: known === null || ofKey ? once.key : random.uuid(), digest: once.digest });
    const kept = keyRecordSchema.parse(
      parseJson(await backend.store.setIfAbsent(`batch-key:${once.key}`, record, KEY_SECONDS)),
    );
    if (kept.digest !== once.digest) return { kind: 'other-body' };
    // The API that took the key may have died before it created the batch. Creation is idempotent, so a repeat completes it.
    if (await wasCreated(kept.batchId)) return { kind: 'taken', batchId: kept.batchId };
    const taken = await createNow(kept.batchId, request, { keyName, maxRunning, once });
    if (taken.kind === 'taken') await backend.store.setIfAbsent(createdKey(kept.batchId), '1', KEY_SECONDS);
    return taken;
  };

  async function wasCreated(batchId: string): Promise<boolean> {
    return (await store.read(batchId)) !== null || (await backend.store.get(createdKey(batchId))) !== null;
  }

  async function createNow(
    batchId: string,
    request: BatchRequest,
    { keyName, maxRunning, once }: Owner & { once?: Once },
  ): Promise<Taken> {
    const sourced = await casesOf(request, dependencies);
    if (sourced.kind !== 'cases') return sourced;
    const { cases, etag, setAside } = sourced;
    const [dryRun, ignore] = [request.dryRun ?? sourced.dryRun, request.ignore ?? sourced.ignore];
    const targets = await targetsOf(request.targets ?? sourced.targets, { app: request.app, dryRun }, ask);
    if (targets.kind !== 'targets') return targets;
    const against = request.against ?? sourced.against ?? firstOf(targets.targets, cases);
    const problems = unfit(sourced, { against, targets: targets.targets });
    if (problems.length > 0) return { kind: 'bad', problems };
    const { app, ruleId, confId, concurrency, stopAfterFailures } = request;
    const file = request.file ?? sourced.file;
    const from = request.source.kind === 'from' ? request.source.batchId : null;
    const batch: Batch = {
      ...{ v: BATCH_VERSION, batchId, app, ruleId, confId, targets: targets.targets, cases: cases.length },
      ...{ concurrency, stopAfterFailures, keyName, createdAt: time.now(), file, etag, from, dryRun, ignore },
      ...(against && { against }),
      ...(setAside && { setAside }),
      ...(once && { once }),
    };
    // One key must not take all places of MAX_BATCHES. Batches outlive the calls that began them, so they are counted where they are kept.
    const stored = await store.create(batch, cases, maxRunning);
    if (stored !== 'created') return notStored(stored, { keyName, maxRunning }, settings);
    // If this fails, a worker finds a running batch without a job, and adds it.
    await queue.add(batchId, { batchId }).catch(() => {});
    return { kind: 'taken', batchId };
  }
}

function notStored(why: NotStored, { keyName, maxRunning }: Owner, { MAX_BATCHES: limit }: Settings): Taken {
  if (why === 'too-many-of-key') return refused('too-many-batches-of-key', { name: keyName ?? '', limit: maxRunning });
  return why === 'too-many' ? refused('too-many-batches', { limit }) : refused('no-room-for-batch', {});
}

/** If no case expects anything, the runs on the other targets are compared with those on the first of them, which this returns. */
function firstOf(targets: readonly string[], cases: readonly Case[]): string | undefined {
  return targets.length > 1 && cases.every(({ expect }) => expect === null) ? targets[0] : undefined;
}

const isOfToday = ({ createdAt }: Batch) => !time.isPast(createdAt + KEY_SECONDS * 1000);

/** Kept as long as the key, also when the batch is not. */
const createdKey = (batchId: string) => `batch-created:${batchId}`;

function unfit(
  { cases, setAside }: { cases: readonly unknown[]; setAside?: SetAside },
  { against, targets }: Pick<Batch, 'against' | 'targets'>,
): Problem[] {
  const runs = cases.length * targets.length;
  if (runs === 0) return [problemAt('cases', 'nothing-to-run', {}), ...(setAside?.errors ?? [])];
  if (runs > MAX_ITEMS) return [problemAt('cases', 'too-many-runs', { runs, maximum: MAX_ITEMS })];
  if (against === undefined || against === RECORDED || (targets.length > 1 && targets.includes(against))) return [];
  return [problemAt('against', 'not-a-target', { targets: targets.join(', ') })];
}

/** `client:*` stands for each client that is online now. Dry runs need a client that can make them at each target. */
async function targetsOf(
  targets: string[],
  { app, dryRun }: { app: number; dryRun: boolean },
  ask: AskWorker['ask'],
): Promise<{ kind: 'targets'; targets: string[] } | Exclude<Taken, { kind: 'taken' }>> {
  const isEach = targets.includes(EVERY_CLIENT);
  if (!isEach && !dryRun) return { kind: 'targets', targets };
  const reply = await ask({ v: QUERY_VERSION, ask: 'clients', app });
  // If no worker can list the clients, the worker of each dry run refuses it.
  if (reply.kind === 'refused') return isEach ? reply : { kind: 'targets', targets };
  const online = readAs(clientListSchema, reply.body).items.filter(({ state }) => state !== 'offline');
  if (isEach && online.length === 0) return refused('nobody-to-run-batch', { app, target: EVERY_CLIENT });
  const each = online.map(({ address }) => `address:${address}`);
  const all = [...new Set(targets.flatMap((target) => (target === EVERY_CLIENT ? each : [target])))];
  const unable = dryRun ? all.filter((target) => cannotRunDry(target, online)) : [];
  if (unable.length > 0)
    return { kind: 'bad', problems: [problemAt('dryRun', 'no-dry-run', { targets: unable.join(', ') })] };
  return { kind: 'targets', targets: all };
}

/** Whether clients of a target are online, and none of them can run without effects. */
function cannotRunDry(written: string, online: readonly Client[]): boolean {
  const target = parseTarget(written);
  const meant = target.kind === 'malformed' ? [] : online.filter((client) => isMeant(target, client));
  return meant.length > 0 && meant.every(({ dryRun }) => !dryRun);
}
