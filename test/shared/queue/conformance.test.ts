import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { answered } from '../../../src/shared/contract/endings/ending.ts';
import { settledOf } from '../../../src/shared/contract/execution-record.ts';
import type { Finished, Records, Reply, TakenJob, WorkerOptions } from '../../../src/shared/queue/queue.ts';
import type { QueueBackend } from '../../../src/shared/queue/queue-backend.ts';
import { eventually } from '../../support/eventually.ts';
import { plainJob } from '../../support/job-data.ts';
import { queueStores } from '../../support/queue-stores.ts';

/** So many sequences of generated commands on each store. */
const SEQUENCES = 20;
/** No lock of a worker lapses because the machine is busy. */
const LOCK_MS = 60_000;

describe.each(Object.entries(queueStores))('a queue %s', (_, openStore) => {
  let opened: QueueBackend | undefined;
  beforeAll(async () => {
    opened = await openStore();
  });
  afterAll(() => opened?.close());

  const conforms = (name: string, run: (backend: QueueBackend) => Promise<void>) =>
    test(name, async ({ skip }) => run(opened ?? skip('there is no such store')));

  conforms('does what the model of it says, command by command', async (backend) => {
    const property = fc.asyncProperty(
      fc.array(commands, { minLength: 15, maxLength: 25, size: 'max' }),
      async (drawn) => {
        const world = openWorld(backend);
        try {
          for (const command of drawn) {
            await world.carryOut(command);
            await world.check();
          }
        } finally {
          await world.close();
        }
      },
    );
    // Each shorter sequence would wait for what never comes as well.
    await fc.assert(property, { numRuns: SEQUENCES, endOnFailure: true });
  });

  conforms('delivers each job to one of its workers, and ends it once', async (backend) => {
    const { queue, work } = openOne(backend);
    const runs: string[] = [];
    for (const _ of [1, 2, 3])
      work(async (job) => {
        runs.push(job.id);
        expect(await job.finish({ id: job.id })).toMatchObject({ kind: 'finished' });
      }).run();
    const ids = Array.from({ length: 200 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.add(id, { id })));
    await eventually(async () => expect(await queue.count()).toEqual({ waiting: 0, snoozed: 0, taken: 0 }));
    expect(runs.toSorted()).toEqual(ids.toSorted());
    for (const id of ids) expect(await queue.lookUp(id)).toEqual({ kind: 'ended', value: { id } });
  });

  conforms('brings a job that was snoozed again after its time', async (backend) => {
    const { queue, work } = openOne(backend);
    const at: number[] = [];
    work((job) => (at.push(Date.now()) === 1 ? job.snooze(300) : job.finish('done'))).run();
    await queue.add('a', {});
    await eventually(async () => expect(await queue.lookUp('a')).toEqual({ kind: 'ended', value: 'done' }));
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(295); // a timer may fire a moment early
  });

  conforms('ends a job with null where its worker fails by a defect, and tells who asked', async (backend) => {
    const { queue, work, listen } = openOne(backend);
    const { heard, address } = await listen();
    const defects: unknown[] = [];
    work(() => Promise.reject(new Error('why')), { onDefect: (...defect) => defects.push(defect) }).run();
    await queue.add('a', { replyTo: address });
    await eventually(() => expect(heard).toEqual([{ kind: 'ended', id: 'a', value: null }]));
    expect(await queue.lookUp('a')).toEqual({ kind: 'ended', value: null });
    expect(defects).toEqual([['a', new Error('why')]]);
  });

  conforms('tells of a job to who asked for it and to who follows it, and to nobody else', async (backend) => {
    const { queue, work, listen } = openOne(backend);
    const [one, other] = [await listen(), await listen()];
    let changes = 0;
    onTestFinished(other.follow('a', () => changes++));
    await eventually(async () => {
      await queue.tellChange('a', undefined);
      expect(changes).toBeGreaterThan(1);
    });
    const before = changes;
    work((job) => job.finish({ answer: 'ä 1.0' })).run();
    // In an input an address leads nowhere.
    await queue.add('a', { input: `"replyTo":"${other.address}"`, replyTo: one.address });
    await eventually(() => expect(one.heard).toEqual([{ kind: 'ended', id: 'a', value: { answer: 'ä 1.0' } }]));
    await eventually(() => expect(changes).toBeGreaterThan(before));
    await queue.tellChange('a', other.address);
    await eventually(() => expect(other.heard).toEqual([{ kind: 'changed', id: 'a' }]));
    expect(one.heard).toHaveLength(1);
  });

  conforms('adds the record of each ending, and says when it could not', async (backend) => {
    const { queue, work } = openOne(backend);
    const history = backend.openHistory({ count: 100, seconds: 60, bytes: 1e6 });
    const [kept, refused] = [randomUUID(), randomUUID()];
    const finished = new Map<string, Finished>();
    const add: Records['add'] = (settled, publication) =>
      settled.record.mockId === refused ? Promise.reject(new Error('no room')) : history.add(settled, publication);
    const ending = answered({ address: 'one', success: true, body: '{}' });
    const records = { settledOf, add };
    work(async (job) => finished.set(job.id, await job.finish(ending)), { records }).run();
    for (const id of [kept, refused]) await queue.add(id, plainJob());
    await eventually(() => expect(finished.size).toBe(2));
    expect([finished.get(kept), finished.get(refused)]).toMatchObject([
      { kind: 'finished', isRecorded: true, settled: { record: { mockId: kept } } },
      { kind: 'finished', isRecorded: false, settled: { record: { mockId: refused } } },
    ]);
    expect([(await history.get(kept))?.mockId, await history.get(refused)]).toEqual([kept, null]);
    expect((await queue.lookUp(refused)).kind).toBe('ended');
  });

  conforms('lets a worker that closes end the jobs it has, and gives it no more', async (backend) => {
    const { queue, work } = openOne(backend);
    const release = Promise.withResolvers<void>();
    const taken: string[] = [];
    const first = work(async (job) => {
      taken.push(job.id);
      await release.promise;
      await job.finish('first');
    });
    first.run();
    await queue.add('a', {});
    await eventually(() => expect(taken).toEqual(['a']));
    const closed = first.close();
    await queue.add('b', {});
    release.resolve();
    await closed;
    expect(await queue.lookUp('a')).toEqual({ kind: 'ended', value: 'first' });
    expect(await queue.lookUp('b')).toEqual({ kind: 'open' });
    work((job) => job.finish('second')).run();
    await eventually(async () => expect(await queue.lookUp('b')).toEqual({ kind: 'ended', value: 'second' }));
  });

  conforms('forgets what ended long ago, and nothing else', async (backend) => {
    const { queue, work } = openOne(backend);
    work((job) => (job.id === 'ended' ? job.finish({}) : job.snooze(3_600_000))).run();
    for (const id of ['ended', 'open']) await queue.add(id, {});
    await eventually(async () => expect((await queue.count()).snoozed).toBe(1));
    await eventually(async () => expect((await queue.lookUp('ended')).kind).toBe('ended'));
    await queue.removeOld(60_000);
    expect((await queue.lookUp('ended')).kind).toBe('ended');
    await eventually(async () => {
      await queue.removeOld(1);
      expect((await queue.lookUp('ended')).kind).toBe('missing');
    });
    expect((await queue.lookUp('open')).kind).toBe('open');
  });

  conforms('brings messages to all, also those from before they listened, once and in order', async (backend) => {
    const name = `messages-${randomUUID()}`;
    const heard: unknown[] = [];
    const sender = backend.openSender(name, 100);
    await sender.send({ text: 'early' });
    const listening = backend.listen(name, (message) => heard.push(message), { fromStart: true });
    await eventually(() => expect(heard).toEqual([{ text: 'early' }]));
    await sender.send({ text: 'late' });
    await eventually(() => expect(heard).toEqual([{ text: 'early' }, { text: 'late' }]));
    await listening.close();
    await sender.close();
  });
});

type Process = (job: TakenJob) => Promise<unknown>;

/** A queue of its own name, with workers and listeners that end with the test. */
function openOne(backend: QueueBackend) {
  const queue = backend.openQueue<object>(`queue-${randomUUID()}`);
  onTestFinished(() => queue.close());
  return {
    queue,
    work(process: Process, options: Partial<WorkerOptions> = {}) {
      const worker = backend.openWorker(queue.name, process, { concurrency: 1, lockMs: LOCK_MS, ...options });
      onTestFinished(() => worker.close());
      return worker;
    },
    async listen() {
      const heard: Reply[] = [];
      const replies = queue.openReplies({ onReply: (reply) => heard.push(reply), onBack: () => {} });
      onTestFinished(() => replies.close());
      await replies.ready;
      return { heard, ...replies };
    },
  };
}

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
/** Fewer than there are jobs, so that the order in which they are taken shows. */
const CONCURRENCY = 2;
const OF_A_WORKER = ['finish', 'giveBack', 'snooze', 'report', 'replaceData'] as const;
type Command = { does: 'run' | 'add' | 'removeWaiting' | 'erase' | (typeof OF_A_WORKER)[number]; id: string };
const commandOf = (...all: Command['does'][]) =>
  fc.record({ does: fc.constantFrom(...all), id: fc.constantFrom(...IDS) });
const commands: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: commandOf('add') },
  { weight: 2, arbitrary: commandOf('run') },
  { weight: 6, arbitrary: commandOf(...OF_A_WORKER, 'removeWaiting', 'erase') },
);

/** What the model knows of a job. */
type ModelJob = {
  state: 'waiting' | 'snoozed' | 'taken' | 'ended';
  data: object;
  takes: number;
  progress: object | null;
  value: object | null;
};

/** A queue and its only worker, beside the model of both. */
function openWorld(backend: QueueBackend) {
  const queue = backend.openQueue<object>(`queue-${randomUUID()}`);
  const held = new Map<string, { job: TakenJob; release: () => void }>();
  const hold: Process = (job) => new Promise<void>((release) => held.set(job.id, { job, release }));
  const worker = backend.openWorker(queue.name, hold, { concurrency: CONCURRENCY, lockMs: LOCK_MS });
  const jobs = new Map<string, ModelJob>();
  /** Ids, the next one to be taken first. */
  let waiting: string[] = [];
  let isRunning = false;
  let count = 0;

  const inState = (state: ModelJob['state']) => [...jobs].filter(([, job]) => job.state === state).map(([id]) => id);

  async function carryOut({ does, id }: Command): Promise<void> {
    const job = jobs.get(id);
    if (does === 'run') {
      isRunning = true;
      worker.run();
    } else if (does === 'add') {
      const data = { n: ++count };
      await queue.add(id, data, { head: JSON.stringify({ head: id }) });
      if (!job) {
        jobs.set(id, { state: 'waiting', data, takes: 0, progress: null, value: null });
        waiting.push(id);
      }
    } else if (does === 'removeWaiting') {
      const isRemoved = job?.state === 'waiting' && job.takes === 0;
      expect(await queue.removeWaiting(id)).toBe(isRemoved);
      if (isRemoved) forget(id);
    } else if (does === 'erase') {
      await queue.erase(id);
      if (job?.state !== 'taken') forget(id);
    } else await carryOutHeld(does, IDS.indexOf(id));
    while (isRunning && waiting.length > 0 && inState('taken').length < CONCURRENCY) {
      const next = jobs.get(waiting.shift() ?? '');
      if (next) Object.assign(next, { state: 'taken', takes: next.takes + 1 });
    }
    await eventually(() => expect([...held.keys()].toSorted()).toEqual(inState('taken').toSorted()));
  }

  /** With one of the jobs that the worker has. */
  async function carryOutHeld(does: (typeof OF_A_WORKER)[number], which: number): Promise<void> {
    const taken = inState('taken');
    const id = taken[which % taken.length] ?? '';
    const job = jobs.get(id);
    if (!job) return;
    const content = { n: ++count };
    if (does === 'report') {
      await held.get(id)?.job.report(content);
      job.progress = content;
    } else if (does === 'replaceData') {
      await held.get(id)?.job.replaceData(content);
      job.data = content;
    } else if (does === 'finish') {
      await letGo(id, async (own) => expect(await own.finish(content)).toMatchObject({ kind: 'finished' }));
      Object.assign(job, { state: 'ended', value: content });
    } else if (does === 'giveBack') {
      await letGo(id, (own) => own.giveBack());
      job.state = 'waiting';
      waiting.unshift(id);
    } else {
      await letGo(id, (own) => own.snooze(3_600_000));
      job.state = 'snoozed';
    }
  }

  /** Whatever its worker asks for afterwards changes nothing, also where the same worker took the job once more. */
  async function letGo(id: string, how: Process): Promise<void> {
    const own = held.get(id);
    if (!own) throw new Error(`the worker does not have ${id}`);
    held.delete(id);
    await how(own.job);
    own.release();
    expect(await own.job.finish('too late')).toEqual({ kind: 'lost' });
  }

  function forget(id: string): void {
    jobs.delete(id);
    waiting = waiting.filter((other) => other !== id);
  }

  async function check(): Promise<void> {
    const [waits, snoozed, taken] = [inState('waiting'), inState('snoozed'), inState('taken')];
    const counts = { waiting: waits.length, snoozed: snoozed.length, taken: taken.length };
    expect(await queue.count()).toEqual(counts);
    expect((await queue.listOpen()).toSorted()).toEqual([...waits, ...snoozed, ...taken].toSorted());
    const short = await queue.readShort(IDS);
    for (const [n, id] of IDS.entries())
      expect([await queue.lookUp(id), await queue.read(id), short[n] ?? null]).toEqual(expectedOf(id, jobs.get(id)));
    for (const id of taken) expect(held.get(id)?.job.isFirstDelivery).toBe(jobs.get(id)?.takes === 1);
  }

  function expectedOf(id: string, job: ModelJob | undefined): unknown[] {
    if (!job) return [{ kind: 'missing' }, null, null];
    const { state, data, takes, progress, value } = job;
    const isEnded = state === 'ended';
    const shown = {
      addedAt: expect.any(Number),
      begun: takes > 0,
      endedAt: isEnded ? expect.any(Number) : null,
      value,
      ...(progress && { progress }),
    };
    return [
      isEnded ? { kind: 'ended', value } : { kind: 'open' },
      expect.objectContaining({ ...shown, data }),
      expect.objectContaining({ ...shown, head: { head: id } }),
    ];
  }

  return {
    carryOut,
    check,
    async close(): Promise<void> {
      for (const { release } of held.values()) release();
      await worker.close();
      await queue.close();
    },
  };
}
