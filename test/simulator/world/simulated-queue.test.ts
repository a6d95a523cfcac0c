import { expect, test } from 'vitest';
import type { JobData } from '../../../src/shared/contract/job.ts';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import { createProcess, perProcess } from '../../../src/shared/ports/process.ts';
import { time } from '../../../src/shared/ports/time.ts';
import { followJobs } from '../../../src/shared/queue/follow-jobs.ts';
import {
  addExecution,
  type ExecutionQueue,
  type TakenJob,
  type WorkerOptions,
} from '../../../src/shared/queue/queue.ts';
import type { QueueBackend, QueueOptions } from '../../../src/shared/queue/queue-backend.ts';
import { type Gate, openGate } from './gate.ts';
import { createSimulatedBackend, type Message, type SimulatedBackendOptions, storeFaults } from './simulated-queue.ts';
import { createStore, type SimulatedStore } from './store.ts';

const data: JobData = {
  ...{ v: 1, app: 1, ruleId: '1', confId: null, ts: null, target: 'any', input: '{}', keyName: null },
  claimBy: Date.now() + 10_000,
};

const makeStore = () => createStore();

function follow(backend: QueueBackend, options: QueueOptions = {}) {
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions, options);
  const unfinished: string[] = [];
  const jobs = followJobs<JobData, unknown>({
    ...{ backend, queue },
    read: (id, value) => ({ id, value }),
    onUnfinished: async (_id, _awaited, state) => void unfinished.push(state),
  });
  const call = async (id: string) => {
    const ending = jobs.wait(id, data, 8000, () => 'timeout');
    await addExecution(queue, id, { ...data, replyTo: jobs.replyTo });
    return ending;
  };
  return { queue, jobs, unfinished, call };
}

/** A gate that is told of every command, and may fail it before or after it happened. */
function faultyGate(store: SimulatedStore, fault: (name: string) => { before?: Error; after?: Error } | undefined) {
  const names: string[] = [];
  const gate: Gate<SimulatedStore> = async ({ name }, act) => {
    names.push(name);
    const { before, after } = fault(name) ?? {};
    if (before) throw before;
    const result = act(store);
    if (after) throw after;
    return result;
  };
  return { gate, names };
}

type Work = (job: TakenJob) => Promise<unknown>;

/** A worker in a process of its own. */
function work(gate: Gate<SimulatedStore>, does: Work, options: Partial<WorkerOptions & SimulatedBackendOptions> = {}) {
  const backend = createSimulatedBackend({ process: 'worker', gate, ...options });
  const worker = backend.openWorker(queueNames.executions, does, { concurrency: 1, ...options });
  worker.run();
  return worker;
}

test('a message that is dropped is made up for by a look at the job', async () => {
  const store = makeStore();
  const messages: Message[] = [];
  const backend = createSimulatedBackend({
    ...{ process: 'api', gate: openGate(store) },
    onMessage: (message) => messages.push(message),
  });
  const follower = follow(backend);
  await follower.jobs.ready;
  const ending = follower.call('a');
  const worker = work(openGate(store), (job) => job.finish('done'));
  expect(await ending).toEqual({ id: 'a', value: 'done' });
  expect(messages).toMatchObject([{ process: 'api', kind: 'ended', id: 'a' }]);
  await Promise.all([worker.close(), follower.jobs.close()]);
});

test('a completion whose reply is lost is sent again, refused, and found by a look', async () => {
  const store = makeStore();
  let lost = 0;
  const { gate, names } = faultyGate(store, (name) =>
    name === 'job.complete' && lost++ === 0 ? { after: storeFaults.lost() } : undefined,
  );
  const finished: unknown[] = [];
  const worker = work(gate, async (job) => finished.push(await job.finish('done')));
  const follower = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  await follower.jobs.ready;
  expect(await follower.call('a')).toEqual({ id: 'a', value: 'done' });
  expect(finished).toEqual([{ kind: 'lost' }]);
  expect(names.filter((name) => name === 'job.complete')).toHaveLength(2);
  await Promise.all([worker.close(), follower.jobs.close()]);
});

test('a lock that lapses while its worker works is told, and the job is handed out again', async () => {
  const store = makeStore();
  let cut = true;
  const { gate } = faultyGate(store, (name) =>
    name === 'job.renew' && cut ? { before: storeFaults.timedOut() } : undefined,
  );
  const told: unknown[] = [];
  const release = Promise.withResolvers<void>();
  const does: Work = async (job) => {
    if (job.isFirstDelivery) await release.promise;
    told.push(await job.finish(job.isFirstDelivery ? 1 : 2));
  };
  const worker = work(gate, does, { concurrency: 2, lockMs: 100, onError: (error) => told.push(String(error)) });
  const follower = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  await follower.jobs.ready;
  expect(await follower.call('a')).toEqual({ id: 'a', value: 2 });
  cut = false;
  release.resolve();
  await time.pause(20);
  expect(told).toContain('Error: Command timed out');
  expect(told).toContainEqual({ kind: 'lost' });
  await Promise.all([worker.close(), follower.jobs.close()]);
});

test('whatever a process is told runs within that process', async () => {
  const name = perProcess(() => 'none');
  const store = makeStore();
  const [api, work] = [createProcess(name.as('api')), createProcess(name.as('work'))];
  const arriving: (() => void)[] = [];
  const heard: string[] = [];
  const { queue, replies } = api.run(() => {
    const onMessage = (_message: Message, deliver: () => void) => void arriving.push(deliver);
    const backend = createSimulatedBackend({ process: 'api', gate: openGate(store), onMessage });
    const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
    const onReply = () => void heard.push(name());
    return { queue, replies: queue.openReplies({ onReply, onBack: onReply }) };
  });
  await replies.ready;
  const worker = work.run(() => {
    const backend = createSimulatedBackend({ process: 'work', gate: openGate(store) });
    const does: Work = (job) => {
      heard.push(`done in ${name()}`);
      return job.finish(1);
    };
    return backend.openWorker(queueNames.executions, does, { concurrency: 1 });
  });
  work.run(() => worker.run());
  await addExecution(queue, 'a', { ...data, replyTo: replies.address });
  await time.pause(5);
  expect(heard).toEqual(['done in work']);
  for (const deliver of arriving) deliver();
  expect(heard).toEqual(['done in work', 'api']);
  await worker.close();
});

test('an earlier copy of the store comes back as a whole, in another run', async () => {
  const store = makeStore();
  const backend = createSimulatedBackend({ process: 'api', gate: openGate(store) });
  const lost: (string | undefined)[] = [];
  const { unfinished, call } = follow(backend, { onDisconnect: () => lost.push(backend.run.last()) });
  const records = backend.openIdempotencyRecords(10_000);
  await backend.connected;
  await backend.store.setIfAbsent('kept', '1', 60);
  const copy = store.copy();
  await records.put('record', '{}', 0);
  await backend.store.remove('kept');
  void call('a');
  await time.pause(5);
  store.restore(copy);
  expect([await records.get('record'), await backend.store.get('kept')]).toEqual([null, '1']);
  await time.pause(200);
  expect([lost, backend.run.last(), await backend.run.ask()]).toEqual([[undefined], 'run-2', 'run-2']);
  expect(unfinished).toEqual(['missing']); // all are looked up once the connection is back
  store.forgetAll({ restart: false });
  expect([await backend.store.get('kept'), await backend.run.ask()]).toEqual([null, 'run-2']);
});

test('messages to all workers are read once, also those from before and from while the connection was lost', async () => {
  const store = makeStore();
  const gate = openGate(store);
  const [api, worker] = ['api', 'worker'].map((process) => createSimulatedBackend({ process, gate }));
  const sender = api?.openSender(queueNames.control, 10);
  await sender?.send({ mockId: 'a' });
  const heard: unknown[] = [];
  worker?.listen(queueNames.control, (message) => heard.push(message), { fromStart: true });
  await time.pause(5);
  worker?.simulated.disconnect();
  await sender?.send({ mockId: 'b' });
  await time.pause(150);
  await sender?.send({ mockId: 'c' });
  await time.pause(5);
  expect(heard).toEqual([{ mockId: 'a' }, { mockId: 'b' }, { mockId: 'c' }]);
});
