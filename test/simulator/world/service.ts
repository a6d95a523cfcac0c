import { openCalls } from '../../../src/api/open-calls.ts';
import { itemNumber } from '../../../src/shared/cases/batch.ts';
import type { Case } from '../../../src/shared/cases/case.ts';
import { noneSetAside } from '../../../src/shared/cases/document/refusal.ts';
import { itemMockId } from '../../../src/shared/cases/item-id.ts';
import { DATA_FIELD } from '../../../src/shared/contract/data-field.ts';
import { onceOf } from '../../../src/shared/contract/determined-id.ts';
import { type Ending, type ReadResult, unanswered } from '../../../src/shared/contract/endings/ending.ts';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import { endingOf } from '../../../src/shared/contract/execution-record.ts';
import { formatTarget, type Target } from '../../../src/shared/contract/target.ts';
import { type Process, random } from '../../../src/shared/ports/process.ts';
import { listenForCancels } from '../../../src/shared/queue/cancels.ts';
import { batchLimitsOf, type Settings } from '../../../src/shared/runtime/settings/settings.ts';
import { createLogger, createThrottledAlert } from '../../../src/shared/runtime/telemetry/logger.ts';
import { createMetrics } from '../../../src/shared/runtime/telemetry/metrics.ts';
import { noTracing } from '../../../src/shared/runtime/telemetry/tracing.ts';
import { startUpkeep } from '../../../src/shared/runtime/upkeep.ts';
import { isStoreUnavailable } from '../../../src/shared/store/store-error.ts';
import { createBatchWorker } from '../../../src/worker/batches/batch-worker.ts';
import { createDirectoryCheck } from '../../../src/worker/process/check-directory.ts';
import {
  createDirectoryParts,
  createExecutionParts,
  createReports,
  takingJobs,
} from '../../../src/worker/process/start.ts';
import { createWorker } from '../../../src/worker/process/worker.ts';
import { createAnswerQuery } from '../../../src/worker/queries/answer-query.ts';
import { createErase } from '../../../src/worker/queries/erase.ts';
import { createFence } from '../../../src/worker/queries/fence.ts';
import { createQueryWorker } from '../../../src/worker/queries/query-worker.ts';
import { createSavedCases } from '../../../src/worker/queries/saved-cases.ts';
import { sweepTasks } from '../../../src/worker/upkeep/sweep.ts';
import { type Behaviour, createCleaner, createClient, type Sdk, type SimulatedClient } from './clients.ts';
import { createDisk, type Disk } from './disk.ts';
import type { Asked, Gate } from './gate.ts';
import { createPromises, type Promised } from './promises.ts';
import { createScheduler, type Ready } from './scheduler.ts';
import { createSimulatedFiles, type Noticed } from './simulated-files.ts';
import { createSimulatedBackend, type Message, type SimulatedBackend, storeFaults } from './simulated-queue.ts';
import { createStore, type SimulatedStore } from './store.ts';
import { SHARED, settingsOf, startProcess } from './worker-process.ts';

export const APP = 1;
const STARTS_AT = 1_700_000_000_000;
const MINUTE_MS = 60_000;

/** A client of the world. The first of its processes is there when the world begins. */
export type ClientPlan = {
  sdk: Sdk;
  registered: boolean;
  lane: string | null;
  behaviour: Partial<Behaviour>;
};

/** A call as somebody will make it. */
export type CallPlan = {
  /** Ms after the beginning of the world. */
  at: number;
  n: number;
  /** Which API it goes to, if that one lives; else to any that does. */
  api: number;
  target: Target;
  /** Its Idempotency-Key. */
  key: string | null;
  /** Its caller leaves so long after the call; null: it stays. */
  leavesAfterMs: number | null;
  /** Somebody asks to stop it so long after the call, at any API; null: nobody does. */
  stoppedAfterMs: number | null;
};

/** A batch as somebody will create it. */
export type BatchPlan = {
  at: number;
  n: number;
  api: number;
  targets: readonly Target[];
  cases: number;
  concurrency: number;
  stopAfterFailures: number | null;
  /** Its Idempotency-Key. */
  key?: string;
  /** Somebody cancels it so long after it was taken; null: nobody does. */
  cancelledAfterMs: number | null;
};

export type ServicePlan = {
  apis: number;
  workers: number;
  clients: readonly ClientPlan[];
  /** Whether the published server runs beside the service, with its cleaner. */
  cleaner: boolean;
  /** How far the clocks of processes are ahead, by their role. */
  clocks: Readonly<Record<string, number>>;
  /** How far the clock of the file server is ahead. */
  filesAheadMs: number;
  queueTimeoutMs: number;
  resultTimeoutMs: number;
  concurrency: number;
  waitsPerClient: number;
  /** Whether workers see the directories of the clients on a file system over the network. */
  isMounted?: boolean;
};

/** What decides about the messages of a world. */
export type Couriers = {
  onMessage(message: Message, deliver: () => void): void;
  onWatch(noticed: Noticed, deliver: () => void): void;
};

type Calls = ReturnType<typeof openCalls>;
type OpenWorker = ReturnType<typeof openWorker>;
/** One process of a role. */
type Running = { process: string } & (
  | { kind: 'api'; inside: Process; backend: SimulatedBackend; calls: Calls }
  | { kind: 'worker'; inside: Process; backend: SimulatedBackend; worker: OpenWorker }
  | { kind: 'client'; client: SimulatedClient }
  | { kind: 'cleaner' }
);
/** A place that one process after the other takes. */
export type Role = {
  name: string;
  kind: Running['kind'];
  index: number;
  generation: number;
  running: Running | undefined;
};

/** What is logged is of no use here. */
const log = createLogger({ level: 'silent', role: 'simulated' });

export type Service = Awaited<ReturnType<typeof createService>>;

/**
 * The whole service in a simulated world: APIs and workers made of the real code as `src/api/start.ts` and `src/worker/process/start.ts` make them, without
 * HTTP and metrics; the queue store; clients; the cleaner of the published server. Nothing happens by itself: whoever holds
 * it makes the steps of its scheduler.
 */
export async function createService(plan: ServicePlan, couriers: Couriers) {
  const scheduler = createScheduler(STARTS_AT);
  const files = { aheadMs: plan.filesAheadMs };
  const disk = createDisk({ now: () => scheduler.epoch() + files.aheadMs });
  const store = createStore(scheduler.timeOf('store'));
  const promises = createPromises({ now: () => scheduler.now });
  const settings = settingsOf({
    QUEUE_TIMEOUT_MS: plan.queueTimeoutMs,
    RESULT_TIMEOUT_MS: plan.resultTimeoutMs,
    WORKER_CONCURRENCY: plan.concurrency,
    MAX_WAITS_PER_CLIENT: plan.waitsPerClient,
  });
  const roles = new Map<string, Role>();
  const roleOf = new Map<string, Role>();
  /** Failures of the world itself, which are no failures of the service. */
  const mistakes: unknown[] = [];
  const past = keepPast(disk, () => scheduler.now);
  const diskGate = openDiskGate(disk, scheduler.gate(disk, past.noted));
  const queueGate = openQueueGate(scheduler.gate(store));
  const clock = { ahead: (role: string) => plan.clocks[role] ?? 0 };

  for (const path of [SHARED, `${SHARED}/mock`, `${SHARED}/mock/${APP}`]) disk.as('operator').mkdir(path);
  if (plan.cleaner) disk.as('operator').mkdir(`${SHARED}/apps`);

  function addRole(kind: Role['kind'], index: number): Role {
    const name = kind === 'cleaner' ? kind : `${kind} ${index}`;
    const role: Role = { name, kind, index, generation: 0, running: undefined };
    roles.set(name, role);
    return role;
  }

  function nameOf(role: Role): string {
    role.generation++;
    const process = role.generation === 1 ? role.name : `${role.name}.${role.generation}`;
    roleOf.set(process, role);
    return process;
  }

  const nameNow = (role: Role) => role.running?.process ?? role.name;

  function openBackend(process: string): SimulatedBackend {
    return createSimulatedBackend({ process, gate: queueGate, onMessage: couriers.onMessage });
  }

  function startApi(role: Role): void {
    const process = nameOf(role);
    const inside = startProcess(process, scheduler, undefined, clock.ahead(role.name));
    inside.run(() => {
      const backend = openBackend(process);
      const calls = openCalls({ settings, backend, log, metrics: createMetrics() });
      calls.ready.catch((error) => mistakes.push(error));
      role.running = { kind: 'api', process, inside, backend, calls };
    });
  }

  function startWorker(role: Role): void {
    const process = nameOf(role);
    const mounts = plan.isMounted ? [`${SHARED}/mock/${APP}`] : [];
    const own = createSimulatedFiles({ process, gate: diskGate, onWatch: couriers.onWatch, mounts });
    const inside = startProcess(process, scheduler, own, clock.ahead(role.name));
    inside.run(() => {
      const backend = openBackend(process);
      role.running = { kind: 'worker', process, inside, backend, worker: openWorker(settings, backend) };
    });
  }

  function startClient(role: Role, established = false): void {
    const process = nameOf(role);
    const client = plan.clients[role.index - 1];
    if (!client) return;
    const aheadMs = clock.ahead(role.name);
    scheduler.start(process, { aheadMs });
    const one = createClient({
      ...{ name: process, sdk: client.sdk, registered: client.registered, app: APP, lane: client.lane },
      // The directory of one that is just a directory stays its own.
      address: client.registered ? process.replace(' ', '-') : role.name.replace(' ', '-'),
      sharedDir: SHARED,
      // Only the first one is told to leave or to die.
      behaviour: established ? client.behaviour : { ...client.behaviour, leavesBefore: null, diesAt: null },
      gate: (asked, act) => diskGate(asked, (all) => act(all.as(asked.process))),
      time: scheduler.timeOf(process),
      onRun(mockId) {
        scheduler.note(process, `RUNS ${mockId}`, '');
        promises.ran(mockId, client.sdk);
      },
    });
    role.running = { kind: 'client', process, client: one };
    if (established) one.establish(disk.as(process));
    one.start().then(
      () => {
        if (role.running?.process === process) kill(role);
      },
      (error) => mistakes.push(error),
    );
  }

  function startCleaner(role: Role): void {
    const process = nameOf(role);
    scheduler.start(process, { aheadMs: clock.ahead(role.name) });
    const cleaner = createCleaner({
      ...{ name: process, sharedDir: SHARED, apps: [APP], time: scheduler.timeOf(process) },
      gate: (asked, act) => diskGate(asked, (all) => act(all.as(asked.process))),
    });
    cleaner.start().catch((error) => mistakes.push(error));
    role.running = { kind: 'cleaner', process };
  }

  function start(role: Role, isFirst = false): void {
    if (role.running) return;
    if (role.kind === 'api') startApi(role);
    else if (role.kind === 'worker') startWorker(role);
    else if (role.kind === 'client') startClient(role, isFirst);
    else startCleaner(role);
    if (!isFirst) scheduler.note(nameNow(role), 'starts', '');
  }

  /** A process dies. Those who waited for an answer of it are told nothing. */
  function kill(role: Role): void {
    const { running } = role;
    if (!running) return;
    role.running = undefined;
    scheduler.note(running.process, 'dies', '');
    scheduler.kill(running.process);
    disk.endProcess(running.process);
    if (running.kind === 'client') running.client.die();
    if (running.kind === 'api' || running.kind === 'worker') running.backend.simulated.die();
    if (running.kind === 'api') promises.apiDied(running.process);
  }

  /** A worker is told to stop: it hands over what it has, and ends. `onEnd` is called then, unless it was killed before. */
  function stop(role: Role, onEnd: () => void): void {
    const { running } = role;
    const end = () => {
      if (role.running !== running) return;
      kill(role);
      onEnd();
    };
    if (running?.kind !== 'worker') end();
    else
      scheduler.tell(running.process, 'is told to stop', () => {
        running.worker.stop().then(end, (error) => mistakes.push(error));
      });
  }

  /** The API that a call reaches; undefined where none lives. */
  function apiFor(index: number) {
    const all = [...roles.values()].filter(({ kind }) => kind === 'api');
    const wanted = all[index % all.length];
    const { running } = (wanted?.running ? wanted : all.find((role) => role.running)) ?? {};
    return running?.kind === 'api' ? running : undefined;
  }

  /** Somebody makes a call. It reaches its API when the scheduler says so. */
  function call(planned: CallPlan): void {
    const api = apiFor(planned.api);
    if (!api) return;
    scheduler.tell(api.process, `call ${planned.n}${planned.key === null ? '' : ` under ${planned.key}`}`, () => {
      makeCall(api, planned).catch((error) => mistakes.push(error));
    });
  }

  async function makeCall(api: Extract<Running, { kind: 'api' }>, planned: CallPlan): Promise<void> {
    const { key, n } = planned;
    const mockId = mockIdOf(n);
    const ids = key === null ? [mockId] : [onceOf('call', scopeOf(key), bytesOf(key)).key, mockId];
    const promised: Promised = { n, ids, key, api: api.process, arrivedAt: scheduler.now };
    promises.arrived(promised);
    const left = new AbortController();
    if (planned.leavesAfterMs !== null)
      scheduler.timeOf(api.process).setTimeout(() => left.abort(), planned.leavesAfterMs);
    if (planned.stoppedAfterMs !== null)
      scheduler.timeOf(api.process).setTimeout(() => void stopCall(planned, mockId), planned.stoppedAfterMs);
    const { mockId: of, ending } = await outcomeOf(api.calls, { mockId, key, target: planned.target }, left.signal);
    const what =
      ending.kind === 'answered'
        ? 'answered'
        : `${ending.noAnswer.code}${ending.noAnswer.mayHaveRun ? '' : ', did not run'}`;
    scheduler.note(api.process, `TELLS call ${n} of ${of}`, '', what);
    promises.told(promised, of, ending);
  }

  /** Somebody creates a batch. */
  function batch(planned: BatchPlan): void {
    const api = apiFor(planned.api);
    if (!api) return;
    const begin = () => startBatch(api, planned).catch((error) => mistakes.push(error));
    scheduler.tell(api.process, `batch ${planned.n}`, () => void begin());
  }

  async function startBatch(api: Extract<Running, { kind: 'api' }>, planned: BatchPlan): Promise<void> {
    const { batches } = api.calls.parts;
    const { key, concurrency, stopAfterFailures, cancelledAfterMs } = planned;
    const shape = { ruleId: '1', confId: null, ts: null, concurrency, stopAfterFailures, file: null, dryRun: false };
    const targets = planned.targets.map(formatTarget);
    const source = { kind: 'given', cases: casesOf(planned.cases) } as const;
    const by = { keyName: null, maxRunning: planned.n, key, call: bytesOf(key ?? '') };
    const taken = await batches
      .create({ app: APP, ...shape, ignore: [], targets, source, setAside: noneSetAside }, by)
      .catch((error) => {
        if (!isStoreUnavailable(error)) throw error;
      });
    if (taken?.kind !== 'taken') return;
    for (const target of key === undefined ? [] : targets)
      for (let index = 0; index < planned.cases; index++)
        promises.keyed(`${key}, ${index} on ${target}`, [itemMockId(taken.batchId, index, target)]);
    if (cancelledAfterMs === null) return;
    const cancel = () => void batches.cancel(taken.batchId).catch(() => {});
    scheduler.timeOf(api.process).setTimeout(cancel, cancelledAfterMs);
  }

  /** What the batches have of their items. `mustBeOver`: none of them goes on. */
  async function readBatches({ mustBeOver }: { mustBeOver: boolean }): Promise<void> {
    const kept = store.inStores(({ batches }) => batches(batchLimitsOf(settings)));
    const isRunning = new Set(mustBeOver ? [] : store.runningBatches());
    for (const batchId of await kept.list()) {
      const found = await kept.read(batchId);
      if (found === null || found === 'gone' || isRunning.has(batchId)) continue;
      for (const [targetIndex, target] of found.batch.targets.entries())
        for (let index = 0; index < found.batch.cases; index++) {
          const n = itemNumber(found.batch, index, targetIndex);
          const [head] = await kept.heads(batchId, n, n);
          if (head) promises.item(itemMockId(batchId, index, target), head);
        }
    }
  }

  async function stopCall({ api: index }: CallPlan, mockId: string): Promise<void> {
    const api = apiFor(index + 1);
    if (api) await api.inside.run(() => api.calls.parts.executions.cancel(mockId).catch(() => {}));
  }

  /** What somebody reads of all executions: at once, so it is for the end of a world. */
  async function readHistory(): Promise<void> {
    const api = apiFor(0);
    if (!api) return;
    await scheduler.atOnce(() =>
      api.inside.run(async () => {
        for (const mockId of promises.known()) {
          const found = await api.calls.parts.executions.whole(mockId);
          const ending = found && endingOf(found.record, found.result);
          if (!ending) continue;
          if (ending.kind === 'unanswered') promises.read(mockId, ending);
          else promises.read(mockId, { kind: 'answered', result: { ...ending.result, body: found.result ?? '' } });
        }
      }),
    );
  }

  for (let index = 1; index <= plan.apis; index++) addRole('api', index);
  for (let index = 1; index <= plan.workers; index++) addRole('worker', index);
  plan.clients.forEach((_, index) => void addRole('client', index + 1));
  if (plan.cleaner) addRole('cleaner', 1);
  for (const role of roles.values()) start(role, true);
  await scheduler.settle();

  const running = () => [...roles.values()].flatMap((role) => (role.running ? [role.running] : []));
  return {
    ...{ scheduler, disk, store, promises, settings, roles, mistakes, files, past },
    roleOf: (process: string) => roleOf.get(process),
    ...{ start, kill, stop, call, batch, readHistory, readBatches },
    /** Batches that are not over. */
    runningBatches: (): number => store.runningBatches().length,
    endBatches(): void {
      const kept = store.inStores(({ batches }) => batches(batchLimitsOf(settings)));
      for (const id of store.runningBatches()) void kept.change(id, ['running', 'cancelling'], 'cancelled');
    },
    /** The connections of a process to the queue store break. */
    disconnect(process: string): void {
      const found = roleOf.get(process)?.running;
      if (found?.process === process && 'backend' in found) found.backend.simulated.disconnect();
    },
    /** Executions that workers have, and calls that APIs wait for. */
    open(): number {
      let open = promises.open();
      for (const one of running()) if (one.kind === 'worker') open += one.worker.open();
      return open;
    },
    /** Slots of clients that workers hold although nothing is open. */
    slots(): number {
      const directories = running().flatMap((one) => (one.kind === 'client' ? [one.client.directory] : []));
      const workers = running().flatMap((one) => (one.kind === 'worker' ? [one.worker] : []));
      return workers.flatMap((one) => directories.map(one.slotsOf)).reduce((sum, count) => sum + count, 0);
    },
    /** Files of executions that are in the shared directory. */
    left: () => filesLeft(disk),
    close: () => scheduler.close(),
  };
}

/** The id of a call. */
export const mockIdOf = (n: number) => `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;

const scopeOf = (key: string) => ({ app: APP, keyName: null, key });
/** Every call under a key has the same body. */
const bytesOf = (key: string) => new TextEncoder().encode(key);

type Made = { mockId: string; key: string | null; target: Target };

/** Cases without an expectation: each has an input of its own. */
function casesOf(count: number): Case[] {
  const unused = { ts: null, tags: [], skip: false, line: null, expect: null };
  return Array.from({ length: count }, (_, n) => ({ name: `case ${n}`, input: `{"n":${n}}`, ...unused }));
}

/** What an API tells the caller of a call, as `src/api/routes/execute.ts` has it. */
async function outcomeOf(
  { parts: { submitExecution, runOnce } }: Calls,
  { mockId, key, target }: Made,
  callerLeft: AbortSignal,
): Promise<{ mockId: string; ending: Ending<ReadResult> }> {
  const unused = {
    confId: null,
    ts: null,
    debug: null,
    comparisonId: null,
    derivedFrom: null,
    dryRun: false,
    stub: '{}',
  };
  const request = { app: APP, ruleId: 1n, ...unused, target, [DATA_FIELD]: '{"n":9007199254740993}' };
  const call = { mockId, keyName: null };
  if (key === null) return { mockId, ending: await submitExecution.run({ ...call, request }, callerLeft) };
  const inScene = async () => ({ kind: 'request' as const, request });
  try {
    const once = await runOnce(scopeOf(key), { ...call, bytes: bytesOf(key), inScene });
    if (once.kind === 'refused') return { mockId: once.mockId, ending: unanswered(once.noAnswer) };
    if (once.kind !== 'runs') throw new Error(`a keyed call was told ${once.kind}`);
    return await once.ending();
  } catch (error) {
    if (!isStoreUnavailable(error)) throw error;
    return { mockId, ending: unanswered(noAnswer('key-record-away', { why: 'silent' })) };
  }
}

const CHECK_DIRECTORY_EVERY_MS = 1000;

/** A worker as `src/worker/process/start.ts` makes it. To be called inside its process. */
function openWorker(settings: Settings, backend: SimulatedBackend) {
  const given = { settings, backend, sharedDir: SHARED, log };
  const options = { ...given, metrics: createMetrics(), tracing: noTracing, atStep: () => {} };
  const directory = createDirectoryParts(options);
  const execution = createExecutionParts(options, directory);
  const { interrupts, watcher } = execution;
  const storeAlert = createThrottledAlert(log, 'The queue store cannot be used');
  const id = random.uuid();
  const worker = createWorker({ ...execution, id, backend, storeAlert, concurrency: settings.WORKER_CONCURRENCY, log });
  const { history, privacy } = execution;
  const ofBatches = { ...directory, backend, history, privacy, settings, metrics: options.metrics, log };
  const batches = createBatchWorker(ofBatches);
  const consumers = takingJobs(worker, batches);
  const reports = createReports(id, backend, execution.workload.load);
  const threads = async () => {}; // never busy
  const check = createDirectoryCheck({
    ...directory,
    ...execution,
    worker: consumers,
    announce: reports.announce,
    threads,
    storeAlert,
    log,
  });
  const queries = createQueryWorker({
    backend,
    answerQuery: createAnswerQuery({
      ...directory,
      fence: createFence(directory),
      erase: createErase(directory),
      savedCases: createSavedCases(directory),
    }),
    fault: directory.sharedDirectory.fault,
    waitForOthersMs: settings.QUEUE_TIMEOUT_MS / 2,
    log,
  });
  const cancels = listenForCancels(backend, interrupts.cancel);
  const checking = { name: 'check', everyMs: CHECK_DIRECTORY_EVERY_MS, firstMs: 0, run: check.check };
  const sweeps = sweepTasks({
    ...directory,
    everyMs: 60_000,
    onResult: execution.lateResults.keep,
    onSwept: () => {},
    log,
  });
  const upkeep = startUpkeep([checking, ...sweeps], () => {});

  return {
    open: () => worker.open,
    slotsOf: (client: string) => directory.slots.ownLoad(client),
    async stop(): Promise<void> {
      const handedOver = worker.stop().finally(() => watcher.close());
      const others = [upkeep.stop().then(reports.withdraw), cancels.close(), queries.close(), batches.stop()];
      await Promise.allSettled([handedOver, ...others]);
    },
  };
}

/** A path that begins with a handle is told by the place that the handle stands for. */
function openDiskGate(disk: Disk, gate: Gate<Disk>): Gate<Disk> {
  const place = (process: string, path: string) => (path.startsWith('/proc/') ? disk.as(process).locate(path) : path);
  return (asked, act) => gate({ ...asked, on: asked.on.map((path) => place(asked.process, path)) }, act);
}

/** The codes by which the scheduler fails commands of the queue store, and what its client then says. */
const queueFaults = {
  'not sent': storeFaults.notSent,
  'connection lost': storeFaults.lost,
  'timed out': storeFaults.timedOut,
  refused: () => storeFaults.refused(),
};
export type QueueFault = keyof typeof queueFaults;

function openQueueGate(gate: Gate<SimulatedStore>): Gate<SimulatedStore> {
  return async (asked, act) => {
    try {
      return await gate(asked, act);
    } catch (error) {
      throw toldOf(error);
    }
  };
}

function toldOf(error: unknown): unknown {
  if (!(error instanceof Error && 'code' in error)) return error;
  for (const [code, make] of Object.entries(queueFaults)) if (error.code === code) return make();
  return error;
}

/** A look may be as old as that: what caches of network file systems keep. */
const STALE_MS = 3000;
const COPIES = 3;

/** Copies of a disk as it was before each of its last changes. What a process did itself it never sees undone. */
function keepPast(disk: Disk, now: () => number) {
  let isOn = false;
  let changes = 0;
  let latest: Disk | undefined;
  let older: { disk: Disk; change: number; at: number }[] = [];
  const lastOwn = new Map<string, number>();
  return {
    noted({ writes, process }: Asked): void {
      if (!isOn || !writes) return;
      changes++;
      lastOwn.set(process, changes);
      if (latest) older = [{ disk: latest, change: changes, at: now() }, ...older].slice(0, COPIES);
      latest = disk.copy();
    },
    keep(on: boolean): void {
      isOn = on;
      older = [];
      latest = on ? disk.copy() : undefined;
    },
    /** Newest first. */
    for(ready: Ready): Disk[] {
      const own = lastOwn.get(ready.process) ?? 0;
      const seen = older.filter(({ change, at }) => change > own && now() - at <= STALE_MS);
      for (const { disk: copy } of seen) copy.takeHandlesOf(disk);
      return seen.map(({ disk: copy }) => copy);
    },
  };
}

/** Files that belong to executions: all below the directories of clients, and what the workers keep of claims and answers. */
function filesLeft(disk: Disk): string[] {
  const calls = disk.as('operator');
  const found: string[] = [];
  const look = (path: string, isWanted: (path: string) => boolean) => {
    for (const entry of calls.readEntries(path)) {
      const at = `${path}/${entry.name}`;
      if (entry.isDirectory()) look(at, isWanted);
      else if (isWanted(at)) found.push(at);
    }
  };
  look(`${SHARED}/mock`, () => true);
  for (const folder of ['claims', 'answers'])
    if (calls.exists(`${SHARED}/.rule-server/${folder}`)) look(`${SHARED}/.rule-server/${folder}`, () => true);
  return found;
}

/** So long all that an execution may leave is kept, with room to spare. */
export const ALL_SWEPT_AFTER_MS = 25 * 60 * MINUTE_MS;
