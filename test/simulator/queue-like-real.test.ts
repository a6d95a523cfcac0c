import { UnrecoverableError } from 'bullmq';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { answered, type Ending } from '../../src/shared/contract/endings/ending.ts';
import type { ExecutionRecord } from '../../src/shared/contract/execution-record.ts';
import type { JobData } from '../../src/shared/contract/job.ts';
import { time } from '../../src/shared/seams/time.ts';
import type { History } from '../../src/shared/store/history/history.ts';
import type { Notes } from '../../src/shared/store/notes/notes.ts';
import { createCancelSender, listenForCancels } from '../../src/shared/store/queue/control.ts';
import { isLostToOthers } from '../../src/shared/store/queue/ending-worker.ts';
import { addExecution } from '../../src/shared/store/queue/job-heads.ts';
import { openQueueBackend } from '../../src/shared/store/queue/open-queue-backend.ts';
import type { ExecutionQueue, JobWorker, QueueBackend } from '../../src/shared/store/queue/queue-backend.ts';
import { queueNames } from '../../src/shared/store/queue/queue-names.ts';
import { borrowEmbeddedQueue } from '../support/embedded-queue.ts';
import { borrowDatabase } from '../support/shared-redis.ts';
import { openGate } from './world/gate.ts';
import { createSimulatedBackend } from './world/simulated-queue.ts';
import { createStore } from './world/store.ts';

/** So many sequences of so many commands; each on every queue store. */
const [SEQUENCES, COMMANDS] = [20, 40];
const LOCK_MS = 100;
const FAR_MS = 3_600_000;
/** Room for two notes and one answer. */
const NOTES_BYTES = 2 * 900 + 700;

const endedWith = (n: number) => answered({ address: `${n}`, success: true });

/** A queue store that is compared. `empty`: no job is in it afterwards. */
type Subject = {
  backend: QueueBackend;
  queue: ExecutionQueue;
  worker: JobWorker<JobData, Ending>;
  notes: Notes;
  history: History;
  empty(): Promise<void>;
  close(): Promise<void>;
};

function subjectOf(backend: QueueBackend, own: Pick<Subject, 'empty' | 'close'>, lockMs?: number): Subject {
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  queue.on('error', () => {});
  const never = async (): Promise<Ending> => Promise.reject(new Error('it is not run'));
  const worker: Subject['worker'] = backend.openWorker(queueNames.executions, never, 1, lockMs ? { lockMs } : {});
  worker.on('error', () => {});
  const history = backend.openHistory({ count: 1000, seconds: 3600, bytes: 1e8 });
  const close = async () => {
    await worker.close(true);
    await queue.close();
    await own.close();
  };
  return { backend, queue, worker, history, notes: backend.openNotes(NOTES_BYTES), empty: own.empty, close };
}

function simulated(lockMs?: number): Subject {
  const store = createStore({ now: () => time.now() });
  const backend = createSimulatedBackend({ process: 'one', gate: openGate(store) });
  return subjectOf(backend, { empty: async () => store.forgetAll({ restart: false }), close: backend.close }, lockMs);
}

async function embedded(lockMs?: number): Promise<Subject> {
  const lent = await borrowEmbeddedQueue();
  const queue = lent.backend.openQueue(queueNames.executions);
  const empty = () => queue.obliterate({ force: true });
  return subjectOf(lent.backend, { empty, close: () => queue.close().then(lent.giveBack) }, lockMs);
}

async function onRedis(lockMs?: number): Promise<Subject | undefined> {
  const database = await borrowDatabase();
  if (!database) return undefined;
  const backend = await openQueueBackend(database.url);
  await backend.connected;
  const queue = backend.openQueue(queueNames.executions);
  const close = async () => {
    await queue.close();
    await backend.close();
    await database.stop();
  };
  return subjectOf(backend, { empty: () => queue.obliterate({ force: true }), close }, lockMs);
}

/**
 * What a command is carried out on. `tellsLocks`: it says which way a lock was lost, and a lock is lost when its time is over. The embedded
 * queue has other codes, and there a lock lasts until it is found to be over; `run` is part of each key, so that sequences do not meet. */
type Context = Subject & { run: number; jobs: Map<string, Taken>; tellsLocks: boolean };
type Taken = NonNullable<Awaited<ReturnType<ExecutionQueue['getJob']>>>;
type Command = { name: string; on?: 'redis'; carryOut: (context: Context) => Promise<unknown> };

const data = (n: number, run: number): JobData => ({
  ...{ v: 1, replyTo: 'nobody', app: 1, ruleId: String(run), confId: null, ts: null, target: 'any', keyName: null },
  ...{ input: `{"n":${n}}`, claimBy: 1_900_000_000_000 },
});

const NAMES = ['a', 'b', 'c'];
const id = fc.constantFrom(...NAMES);
const token = fc.constantFrom('one', 'one', 'two');
const text = fc.constantFrom('x', 'y', '"é"');
const number = fc.nat(3);
const few = fc.nat(1);
const whole = (name: string, { run }: Context) => `${run}-${name}`;

/** The job as whoever has taken it holds it; else as it is in the queue. */
async function jobOf(name: string, context: Context): Promise<Taken> {
  const job = context.jobs.get(name) ?? (await context.queue.getJob(whole(name, context)));
  if (!job) throw new Error('no such job');
  return job;
}

function shown({ id: name, data: { input, addedAgain = false }, attemptsStarted, ...job }: Taken) {
  const { progress, finishedOn, returnvalue, failedReason } = job;
  const ended = { isFinished: Boolean(finishedOn), value: returnvalue ?? null, reason: failedReason ?? null };
  return { name, input, addedAgain, attemptsStarted, progress: progress || null, ...ended };
}

const jobCommands: fc.Arbitrary<Command>[] = [
  fc.tuple(id, number).map(([name, n]) => ({
    name: `add ${name} with ${n}`,
    carryOut: (context) => addExecution(context.queue, whole(name, context), data(n, context.run)),
  })),
  token.map((holder) => ({
    name: `take as ${holder}`,
    async carryOut({ worker, jobs, run }) {
      const job: Taken | undefined = await worker.getNextJob(holder, { block: false });
      if (job) jobs.set(String(job.id).slice(`${run}-`.length), job);
      return job ? shown(job) : null;
    },
  })),
  fc.tuple(id, token, number).map(([name, holder, n]) => ({
    name: `complete ${name} as ${holder} with ${n}`,
    carryOut: async (context) => void (await (await jobOf(name, context)).moveToCompleted(endedWith(n), holder, false)),
  })),
  fc.tuple(id, token, text).map(([name, holder, why]) => ({
    name: `fail ${name} as ${holder} with ${why}`,
    carryOut: async (context) => void (await (await jobOf(name, context)).moveToFailed(new Error(why), holder, false)),
  })),
  fc.tuple(id, token, fc.constantFrom(0, FAR_MS)).map(([name, holder, ms]) => ({
    name: `delay ${name} as ${holder} for ${ms}`,
    ...(ms === 0 && { on: 'redis' as const }), // in the embedded queue it keeps its place among the others
    carryOut: async (context) => (await jobOf(name, context)).moveToDelayed(Date.now() + ms, holder),
  })),
  fc.tuple(id, token).map(([name, holder]) => ({
    name: `put ${name} back as ${holder}`,
    on: 'redis', // the embedded queue puts it behind the others, and does not say when it did nothing
    carryOut: async (context) => void (await (await jobOf(name, context)).moveToWait(holder)),
  })),
  fc.tuple(id, token).map(([name, holder]) => ({
    name: `renew ${name} as ${holder}`,
    carryOut: (context) => context.worker.extendJobLocks([whole(name, context)], [holder], 10_000),
  })),
  id.map((name) => ({
    name: `is ${name} finished`,
    async carryOut(context) {
      const found = await context.queue.getBackend().isFinished(whole(name, context), true);
      const [status, value] = Array.isArray(found) ? found : [found, ''];
      return status === 1 ? JSON.parse(value) : [status, status === 2 ? value : ''];
    },
  })),
  id.map((name) => ({
    name: `get ${name}`,
    async carryOut(context) {
      const job = await context.queue.getJob(whole(name, context));
      return job ? shown(job) : null;
    },
  })),
  id.map((name) => ({
    name: `read the head of ${name}`,
    async carryOut({ backend, queue, ...context }) {
      const ids = [whole(name, { backend, queue, ...context }), 'none'];
      const [job, none] = await backend.readShortJobs(queue, ids);
      if (!job) return [job, none];
      const { head, begun, progress, finishedOn, returnvalue } = job;
      return [head, begun, progress || null, finishedOn !== null, returnvalue ?? null, none];
    },
  })),
  fc.tuple(id, number).map(([name, n]) => ({
    name: `progress of ${name} is ${n}`,
    carryOut: async (context) => (await jobOf(name, context)).updateProgress({ n }),
  })),
  fc.tuple(id, number).map(([name, n]) => ({
    name: `data of ${name} is ${n}`,
    carryOut: async (context) => void (await (await jobOf(name, context)).updateData(data(n, context.run))),
  })),
  id.map((name) => ({
    name: `remove ${name} unless it was begun`,
    carryOut: (context) => context.backend.removeWaiting(context.queue, whole(name, context)),
  })),
  id.map((name) => ({
    name: `remove ${name}`,
    carryOut: async (context) => void (await context.queue.remove(whole(name, context), { removeChildren: false })),
  })),
  fc.constant({
    name: 'count',
    async carryOut({ queue }) {
      const { wait, delayed, active } = await queue.getJobCounts('wait', 'delayed', 'active');
      return { wait, delayed, active };
    },
  }),
];

const storeCommands: fc.Arbitrary<Command>[] = [
  fc.tuple(id, text).map(([name, value]) => ({
    name: `set ${name} to ${value}, if it is absent`,
    carryOut: (context) => context.backend.store.setIfAbsent(whole(name, context), value, 60),
  })),
  fc.tuple(id, text).map(([name, value]) => ({
    name: `hold ${value} in ${name}`,
    carryOut: (context) => context.backend.store.hold(whole(name, context), value, 60),
  })),
  id.map((name) => ({
    name: `read ${name}`,
    carryOut: (context) => context.backend.store.get(whole(name, context)),
  })),
  id.map((name) => ({
    name: `forget ${name}`,
    carryOut: (context) => context.backend.store.remove(whole(name, context)),
  })),
];

const noteOf = (mockId: string, n: number, { run }: Context) => JSON.stringify({ mockId: `${run}-${mockId}`, n });

const noteCommands: fc.Arbitrary<Command>[] = [
  fc.tuple(id, few).map(([name, n]) => ({
    name: `put the note ${name}, ${n}`,
    carryOut: (context) => context.notes.put(whole(name, context), noteOf(name, n, context), n === 0 ? 1 : 9e14),
  })),
  fc.tuple(id, few).map(([name, to]) => ({
    name: `keep an answer with the note ${name}, ${to} from now on`,
    async carryOut(context) {
      const from = (await context.notes.get(whole(name, context))) ?? '';
      const answer = `answer ${to}`;
      return context.notes.change(whole(name, context), from, noteOf(name, to, context), { answer });
    },
  })),
  id.map((name) => ({ name: `the note ${name}`, carryOut: (context) => context.notes.get(whole(name, context)) })),
  fc.tuple(id, few, few, fc.constantFrom(1, 9e14)).map(([name, from, to, dueAt]) => ({
    name: `change the note ${name} from ${from} to ${to}, due at ${dueAt}`,
    carryOut: (context) =>
      context.notes.change(whole(name, context), noteOf(name, from, context), noteOf(name, to, context), { dueAt }),
  })),
  fc.tuple(id, few).map(([name, from]) => ({
    name: `remove the note ${name}, ${from}`,
    carryOut: (context) => context.notes.change(whole(name, context), noteOf(name, from, context), null),
  })),
  id.map((name) => ({
    name: `the answer of the note ${name}`,
    carryOut: (context) => context.notes.answer(whole(name, context)),
  })),
  id.map((name) => ({
    name: `forget the notes of ${name}`,
    carryOut: (context) => context.notes.erase(`${context.run}-${name}`),
  })),
  fc.constant({
    name: 'the notes that are due',
    carryOut: async ({ notes }) => (await notes.due(50, FAR_MS)).sort(),
  }),
];

function record(mockId: string, n: number, { run }: Context): ExecutionRecord {
  const ids = { ruleId: String(run), confId: null, ts: null, target: 'any', keyName: null, address: null };
  const ended = { outcome: { status: 200, code: null, mayHaveRun: true }, decision: null, answeredAt: null };
  const batchId = n === 3 ? 'batch' : null;
  return {
    mockId,
    app: n,
    ...ids,
    batchId,
    state: 'succeeded',
    history: [],
    warnings: [],
    ...ended,
    lateResult: false,
    written: null,
    rules: null,
    ...{ lane: null, error: null, dryRun: false, comparisonId: null, derivedFrom: null },
  };
}

const historyCommands: fc.Arbitrary<Command>[] = [
  fc.tuple(id, number, text).map(([name, n, body]) => ({
    name: `keep ${name} with ${n} and ${body}`,
    carryOut: (context) =>
      context.history.add({
        record: record(whole(name, context), n, context),
        ...{ input: n === 0 ? '' : `{"n":${n}}`, result: { body } },
      }),
  })),
  fc.tuple(id, number, id, text).map(([name, n, key, body]) => ({
    name: `keep ${name} with ${n} and what is in ${key}, ${body} at first`,
    on: 'redis', // the embedded queue leaves it in the store as well
    async carryOut(context) {
      const stored = whole(key, context);
      await context.backend.store.setIfAbsent(stored, body, 60);
      const kept = record(whole(name, context), n, context);
      await context.history.add({ record: kept, input: '', result: { stored } });
      return context.backend.store.get(stored);
    },
  })),
  id.map((name) => ({
    name: `the kept ${name}`,
    carryOut: async (context) => {
      const { history } = context;
      const mockId = whole(name, context);
      const texts = await Promise.all([history.result(mockId), history.input(mockId), history.lateResult(mockId)]);
      const kept = await history.get(mockId);
      return [kept && [kept.app, kept.batchId, kept.lateResult], ...texts];
    },
  })),
  fc.tuple(id, text).map(([name, body]) => ({
    name: `a late result of ${name}, ${body}`,
    carryOut: (context) => context.history.addLateResult(whole(name, context), body),
  })),
  id.map((name) => ({
    name: `${name} was delivered`,
    carryOut: (context) => context.history.delivered(whole(name, context)),
  })),
  id.map((name) => ({
    name: `erase the kept ${name}`,
    carryOut: (context) => context.history.erase(whole(name, context)),
  })),
  fc.tuple(fc.constantFrom(undefined, 'batch'), fc.constantFrom(1, 9)).map(([batchId, limit]) => ({
    name: `list ${limit} of ${batchId}`,
    carryOut: async ({ history, run }) => {
      const { records, nextCursor } = await history.list({ ruleId: String(run), batchId, limit });
      return [records.map(({ mockId }) => mockId).sort(), nextCursor !== null];
    },
  })),
];

/** So that a failure lists names. The first two of each list come more often: they bring things there. */
const named = (command: Command): Command => Object.assign(command, { [fc.toStringMethod]: () => command.name });

const sequences = (commands: fc.Arbitrary<Command>[]) =>
  fc.array(fc.oneof(...commands, ...commands.slice(0, 2), ...commands.slice(0, 2)).map(named), {
    minLength: COMMANDS / 2,
    maxLength: COMMANDS,
  });

async function resultOf(command: Command, context: Context): Promise<unknown> {
  try {
    return (await command.carryOut(context)) ?? null;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (!context.tellsLocks && isLostToOthers(error)) return { refused: 'lost' };
    return { refused: 'code' in error ? error.code : error.message };
  }
}

/** One line for each command: what it was and what came of it. */
async function story(
  commands: readonly Command[],
  subject: Subject,
  tellsLocks: boolean,
  run: number,
): Promise<string[]> {
  await subject.empty();
  const context = { ...subject, run, tellsLocks, jobs: new Map<string, Taken>() };
  const lines: string[] = [];
  for (const command of commands) {
    lines.push(`${command.name}: ${JSON.stringify(await resultOf(command, context))}`);
    if (command.name.startsWith('keep')) await nextMillisecond(); // the order of a list
  }
  for (const name of NAMES) await subject.notes.erase(whole(name, context)); // they share their room
  return lines;
}

/** A timer may fire a moment early. */
async function nextMillisecond(): Promise<void> {
  for (const now = time.now(); time.now() === now; ) await time.pause(1);
}

let run = 0;

function compare(model: Subject, real: Subject, commands: fc.Arbitrary<Command>[], isEmbedded: boolean) {
  const property = fc.asyncProperty(sequences(commands), async (drawn) => {
    const carriedOut = drawn.filter(({ on }) => on === undefined || !isEmbedded);
    run++;
    const [expected, told] = await Promise.all(
      [real, model].map((subject) => story(carriedOut, subject, !isEmbedded, run)),
    );
    expect(told).toEqual(expected);
  });
  return fc.assert(property, { numRuns: SEQUENCES, endOnFailure: false, seed: 20 });
}

const areas = {
  jobs: jobCommands,
  'the key-value store': storeCommands,
  notes: noteCommands,
  history: historyCommands,
};

for (const kind of ['the embedded queue', 'Redis'] as const) {
  const open = (lockMs?: number) => (kind === 'Redis' ? onRedis(lockMs) : embedded(lockMs));

  describe(`the simulated queue does what ${kind} does`, () => {
    let real: Subject | undefined;
    const model = simulated();
    beforeAll(async () => {
      real = await open();
    });
    afterAll(() => real?.close());

    for (const [area, commands] of Object.entries(areas))
      test(area, async ({ skip }) => {
        if (!real) return skip('there is no Redis');
        await compare(model, real, commands, kind === 'the embedded queue');
      });
  });

  test.for([
    ['the workers that take jobs', takersOf],
    ['endings and changes, to whoever asked', repliesOf],
    ['messages to all workers', messagesOf],
  ] as const)(`%s are told as on ${kind}`, async ([, tell], { skip }) => {
    const real = await open();
    if (!real) return skip('there is no Redis');
    const model = simulated();
    const [expected, told] = await Promise.all([tell(real), tell(model)]);
    expect(told).toEqual(expected);
    await Promise.all([real.close(), model.close()]);
  });

  test(`a lock that is over, on ${kind}`, async ({ skip }) => {
    const real = await open(LOCK_MS);
    if (!real) return skip('there is no Redis');
    const model = simulated(LOCK_MS);
    const [expected, told] = await Promise.all([real, model].map((subject) => lapse(subject, kind === 'Redis')));
    expect(told).toEqual(expected);
    await Promise.all([real.close(), model.close()]);
  });
}

async function takersOf({ backend: { takers } }: Subject): Promise<unknown[]> {
  const lists = [await takers.list()];
  for (const id of ['one', 'two', 'one']) await takers.tell(id);
  lists.push(await takers.list());
  await takers.withdraw('one');
  await takers.withdraw('nobody');
  return [...lists, await takers.list()].map((ids) => ids.toSorted());
}

/** A worker ends three jobs, two of which were asked for here; one of them is followed. */
async function repliesOf({ backend, queue, empty }: Subject): Promise<unknown> {
  await empty();
  const heard: unknown[] = [];
  let changes = 0;
  const replies = backend.openReplies(queue, { onReply: (reply) => heard.push(reply), onBack: () => {} });
  await replies.ready;
  const stopFollowing = replies.follow('fails', () => changes++);
  const worker = backend.openWorker<JobData, Ending>(
    queueNames.executions,
    async ({ id }) => {
      if (id === 'fails') throw new UnrecoverableError('why');
      return endedWith(1);
    },
    1,
  );
  worker.on('error', () => {});
  void worker.run();
  for (const [id, replyTo] of Object.entries({ completes: replies.address, fails: replies.address, other: 'nobody' }))
    await addExecution(queue, id, { ...data(1, 0), replyTo });
  const ended = async () => (await backend.readShortJobs(queue, ['other']))[0]?.finishedOn ?? 0;
  await expect.poll(ended, { timeout: 60_000 }).toBeGreaterThan(0);
  await expect.poll(() => heard.length, { timeout: 60_000 }).toBe(2);
  const before = changes;
  await backend.tellChange(queue, 'fails', replies.address);
  await expect.poll(() => heard.length, { timeout: 60_000 }).toBe(3);
  await expect.poll(() => changes, { timeout: 60_000 }).toBeGreaterThan(before);
  stopFollowing();
  await worker.close();
  await replies.close();
  return { heard, wasFollowed: before > 0 };
}

/** What was sent before somebody listens is heard as well, once and in order. */
async function messagesOf({ backend }: Subject): Promise<unknown[]> {
  const heard: unknown[] = [];
  const sender = createCancelSender(backend);
  await sender.send({ mockId: 'early', why: 'asked' });
  const listener = listenForCancels(backend, (cancel) => heard.push(cancel));
  await expect.poll(() => heard.length, { timeout: 60_000 }).toBe(1);
  await sender.send({ mockId: 'late', why: 'caller-left' });
  await expect.poll(() => heard.length, { timeout: 60_000 }).toBe(2);
  await listener.close();
  await sender.close();
  return heard;
}

/** A job whose worker does not renew its lock comes to another one. */
async function lapse(subject: Subject, tellsLocks: boolean): Promise<unknown[]> {
  const { worker, queue } = subject;
  await subject.empty();
  const context = { ...subject, run: 0, tellsLocks, jobs: new Map<string, Taken>() };
  const check = async () => {
    await time.pause(1.5 * (LOCK_MS / 5));
    return worker.getBackend().moveStalledJobsToWait();
  };
  const refused = (task: Promise<unknown>) => resultOf({ name: '', carryOut: () => task }, context);
  await addExecution(queue, 'a', data(0, 0));
  if (tellsLocks) await addExecution(queue, 'b', data(0, 0)); // and there what stalled comes first
  const first: Taken | undefined = await worker.getNextJob('one', { block: false });
  if (!first) throw new Error('no job came');
  await first.moveToWait('one');
  const again: Taken | undefined = await worker.getNextJob('one', { block: false });
  if (!again) throw new Error('it did not come again');
  const stalled = [await check(), await check()]; // a slow machine may find it already
  await time.pause(LOCK_MS);
  const told: unknown[] = [shown(again)];
  if (tellsLocks) {
    told.push(await worker.extendJobLocks(['a'], ['one'], LOCK_MS));
    told.push(await refused(first.moveToWait('one')), await refused(first.moveToDelayed(Date.now(), 'one')));
  }
  stalled.push(await check(), await check()); // at the second one where a lock must be missing twice
  told.push(stalled.flat());
  const second: Taken | undefined = await worker.getNextJob('two', { block: false });
  told.push(second && shown(second), await refused(first.moveToCompleted(endedWith(1), 'one', false)));
  if (!tellsLocks) await addExecution(queue, 'b', data(0, 0));
  const third = await second?.moveToFailed(new Error('why'), 'two', true);
  told.push(third !== undefined, await refused(first.moveToFailed(new Error('late'), 'one', false)));
  const { wait, active, delayed } = await queue.getJobCounts('wait', 'active', 'delayed');
  return [...told, wait, active, delayed, await subject.backend.removeWaiting(queue, 'b')];
}
