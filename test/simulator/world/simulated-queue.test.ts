import { DelayedError } from 'bullmq';
import { expect, test } from 'vitest';
import type { JobData } from '../../../src/shared/contract/job.ts';
import { createProcess, perProcess } from '../../../src/shared/seams/process.ts';
import { time } from '../../../src/shared/seams/time.ts';
import { followJobs } from '../../../src/shared/store/queue/follow-jobs.ts';
import { addExecution } from '../../../src/shared/store/queue/job-heads.ts';
import type { ExecutionQueue, QueueBackend } from '../../../src/shared/store/queue/queue-backend.ts';
import { queueNames } from '../../../src/shared/store/queue/queue-names.ts';
import { type Gate, openGate } from './gate.ts';
import { createSimulatedBackend, createSimulatedWorker, type Message, storeFaults } from './simulated-queue.ts';
import { createStore, type SimulatedStore } from './store.ts';

const data: JobData = {
  ...{ v: 1, app: 1, ruleId: '1', confId: null, ts: null, target: 'any', input: '{}', keyName: null },
  claimBy: Date.now() + 10_000,
};

const makeStore = () => createStore({ now: () => time.now() });

function follow(backend: QueueBackend) {
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
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

test('an API gets the ending of a job that a worker completes, and the next job comes with it', async () => {
  const store = makeStore();
  const { gate, names } = faultyGate(store, () => undefined);
  const api = createProcess();
  const worker = createProcess();
  const completed: string[] = [];
  const simulated = worker.run(() =>
    createSimulatedWorker<JobData, { v: number }>({
      ...{ process: 'worker', gate, concurrency: 1 },
      processor: async (job) => ({ v: job.attemptsStarted }),
      on: { completed: (job) => completed.push(job.id ?? '') },
    }),
  );
  const follower = api.run(() => follow(createSimulatedBackend({ process: 'api', gate: openGate(store) })));
  await follower.jobs.ready;
  const endings = [api.run(() => follower.call('a')), api.run(() => follower.call('b'))];
  await time.pause(5);
  const ran = worker.run(() => simulated.run());
  expect(await Promise.all(endings)).toEqual([
    { id: 'a', value: { v: 1 } },
    { id: 'b', value: { v: 1 } },
  ]);
  const later = api.run(() => follower.call('c')); // the worker waits by now
  expect(await later).toEqual({ id: 'c', value: { v: 1 } });
  expect(completed).toEqual(['a', 'b', 'c']);
  expect(names.filter((name) => name !== 'job.stalled')).toEqual([
    ...['take', 'job.completed', 'job.completed'],
    ...['take', 'job.completed'],
  ]);
  await Promise.all([simulated.close(), ran, follower.jobs.close()]);
});

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
  await time.pause(5);
  const by = { token: 't', lockMs: 1000, now: time.now() };
  store.jobs.take('executions', by);
  store.jobs.finish('executions', { ...by, id: 'a', as: 'failed', text: 'why', next: false });
  expect(await ending).toEqual({ id: 'a', value: undefined });
  expect(messages).toMatchObject([{ process: 'api', kind: 'changed', id: 'a' }]);
  await follower.jobs.close();
});

test('a completion whose reply is lost is sent again, refused, and told to nobody but the caller', async () => {
  const store = makeStore();
  let lost = 0;
  const { gate, names } = faultyGate(store, (name) =>
    name === 'job.completed' && lost++ === 0 ? { after: storeFaults.lost() } : undefined,
  );
  const told: unknown[] = [];
  const worker = createSimulatedWorker<JobData, string>({
    ...{ process: 'worker', gate, concurrency: 1, stalledEveryMs: 0, processor: async () => 'done' },
    on: { completed: () => told.push('completed'), failed: () => told.push('failed'), error: (e) => told.push(e) },
  });
  const follower = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  await follower.jobs.ready;
  const ran = worker.run();
  expect(await follower.call('a')).toEqual({ id: 'a', value: 'done' });
  await time.pause(600);
  expect(told).toMatchObject([{ message: 'Missing lock for job a. moveToFinished' }]);
  expect(names).toEqual(['take', 'take', 'job.completed', 'job.completed', 'take']);
  await Promise.all([worker.close(), ran, follower.jobs.close()]);
});

test('a lock that lapses while its worker works is told, and the job is handed out again', async () => {
  const store = makeStore();
  let cut = true;
  const { gate } = faultyGate(store, (name) =>
    name === 'job.renew' && cut ? { before: storeFaults.timedOut() } : undefined,
  );
  const attempts: number[] = [];
  const told: unknown[] = [];
  const release = Promise.withResolvers<void>();
  const worker = createSimulatedWorker<JobData, number>({
    ...{ process: 'worker', gate, concurrency: 2, lockMs: 100 },
    async processor(job) {
      attempts.push(job.attemptsStarted);
      if (job.attemptsStarted === 1) await release.promise;
      return job.attemptsStarted;
    },
    on: {
      lockLost: (ids) => told.push(ids),
      completed: (_job, value) => told.push(value),
      error: (error) => told.push(String(error)),
    },
  });
  const follower = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  await follower.jobs.ready;
  const ran = worker.run();
  const ending = follower.call('a');
  expect(await ending).toEqual({ id: 'a', value: 2 });
  expect(attempts).toEqual([1, 2]);
  expect(told).toContain(2);
  cut = false;
  await time.pause(100);
  expect(told).toContain('Error: Command timed out');
  release.resolve();
  await time.pause(20);
  expect(told).toContain('Error: Missing lock for job a. moveToFinished');
  await Promise.all([worker.close(), ran, follower.jobs.close()]);
});

test('a worker that is paused takes the one job it was waiting for, and goes on once it is resumed', async () => {
  const store = makeStore();
  const done: string[] = [];
  const worker = createSimulatedWorker<JobData, null>({
    ...{ process: 'worker', gate: openGate(store), concurrency: 1 },
    processor: async (job) => {
      done.push(job.id ?? '');
      return null;
    },
  });
  const { queue } = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  const ran = worker.run();
  await time.pause(5);
  await worker.pause(true);
  await addExecution(queue, 'a', data);
  await addExecution(queue, 'b', data);
  await time.pause(10);
  expect(done).toEqual(['a']);
  worker.resume();
  await time.pause(10);
  expect(done).toEqual(['a', 'b']);
  await Promise.all([worker.close(), ran]);
});

test('a job that is put back for a while comes again when its time is over, without another look', async () => {
  const store = makeStore();
  const { gate, names } = faultyGate(store, () => undefined);
  const attempts: number[] = [];
  const worker = createSimulatedWorker<JobData, number>({
    ...{ process: 'worker', gate, concurrency: 1, drainMs: 0, stalledEveryMs: 0 },
    async processor(job, token) {
      attempts.push(job.attemptsStarted);
      if (job.attemptsStarted > 1) return job.attemptsStarted;
      await job.moveToDelayed(time.now() + 50, token);
      throw new DelayedError();
    },
  });
  const follower = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  await follower.jobs.ready;
  const ran = worker.run();
  expect(await follower.call('a')).toEqual({ id: 'a', value: 2 });
  expect(names).toEqual(['take', 'take', 'job.delay', 'take', 'take', 'job.completed']);
  await Promise.all([worker.close(), ran, follower.jobs.close()]);
});

test('a job that was handed out with a lost reply is stalled, and comes to whoever looks', async () => {
  const store = makeStore();
  let lost = 0;
  const { gate } = faultyGate(store, (name) =>
    name === 'job.completed' && lost++ === 0 ? { after: storeFaults.timedOut() } : undefined,
  );
  const done: string[] = [];
  const worker = createSimulatedWorker<JobData, number>({
    ...{ process: 'worker', gate, concurrency: 1, lockMs: 100 },
    processor: async (job) => done.push(`${job.id}${job.attemptsStarted}`),
  });
  const follower = follow(createSimulatedBackend({ process: 'api', gate: openGate(store) }));
  await follower.jobs.ready;
  const endings = ['a', 'b'].map(follower.call);
  await time.pause(5);
  const ran = worker.run();
  expect(await Promise.all(endings)).toEqual([
    { id: 'a', value: 1 },
    { id: 'b', value: 2 },
  ]);
  expect(done).toEqual(['a1', 'b2']);
  await Promise.all([worker.close(), ran, follower.jobs.close()]);
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
    return { queue, replies: backend.openReplies(queue, { onReply, onBack: onReply }) };
  });
  await replies.ready;
  const worker = work.run(() =>
    createSimulatedWorker<JobData, string>({
      ...{ process: 'work', gate: openGate(store), concurrency: 1, processor: async () => name() },
      on: { completed: (_job, value) => heard.push(`${value} completed in ${name()}`) },
    }),
  );
  const ran = work.run(() => worker.run());
  await addExecution(queue, 'a', { ...data, replyTo: replies.address });
  await time.pause(5);
  expect(heard).toEqual(['work completed in work']);
  for (const deliver of arriving) deliver();
  expect(heard).toEqual(['work completed in work', 'api']);
  await Promise.all([worker.close(), ran]);
});

test('an earlier copy of the store comes back as a whole, in another run', async () => {
  const store = makeStore();
  const backend = createSimulatedBackend({ process: 'api', gate: openGate(store) });
  const lost: (string | undefined)[] = [];
  const { queue, unfinished, call } = follow(backend);
  backend.onDisconnect(queue, () => lost.push(backend.run.last()));
  const notes = backend.openNotes(10_000);
  await backend.connected;
  await backend.store.setIfAbsent('kept', '1', 60);
  const copy = store.copy();
  const before = JSON.stringify(store.state());
  await notes.put('note', '{}', 0);
  await backend.store.remove('kept');
  void call('a');
  await time.pause(5);
  expect(JSON.stringify(store.state())).not.toBe(before);
  store.restore(copy);
  expect(JSON.stringify(store.state())).toBe(before.replace('run-1', 'run-2'));
  expect([await notes.get('note'), await backend.store.get('kept')]).toEqual([null, '1']);
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
  const sent = api?.openEventsProducer(queueNames.control);
  await sent?.publishEvent({ eventName: 'cancel', mockId: 'a' }, 10);
  const heard: unknown[] = [];
  const events = worker?.openEvents(queueNames.control, { fromStart: true });
  events?.on('error', () => {});
  const on = events?.on as unknown as (name: string, listener: (message: unknown) => void) => void;
  on('cancel', (message) => heard.push(message));
  await time.pause(5);
  worker?.simulated.disconnect();
  await sent?.publishEvent({ eventName: 'cancel', mockId: 'b' }, 10);
  await time.pause(150);
  await sent?.publishEvent({ eventName: 'cancel', mockId: 'c' }, 10);
  await time.pause(5);
  expect(heard).toEqual([{ mockId: 'a' }, { mockId: 'b' }, { mockId: 'c' }]);
});

test('what the core never uses says its name', () => {
  const backend = createSimulatedBackend({ process: 'api', gate: openGate(makeStore()) });
  expect(() => (backend as { flush?: unknown }).flush).toThrow('the simulated queue backend has no flush');
  expect(() => backend.openQueue('executions').drain).toThrow('the simulated Queue has no drain');
});
