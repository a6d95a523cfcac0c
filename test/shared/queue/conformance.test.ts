import { describe, expect, onTestFinished, test } from 'vitest';
import type { Reply } from '../../../src/shared/queue/queue.ts';
import type { QueueBackend } from '../../../src/shared/queue/queue-backend.ts';
import { eventually } from '../../support/eventually.ts';
import { queueStores } from '../../support/queue-stores.ts';

const QUEUE = 'executions';
type Data = { n: number; replyTo?: string };

describe.each(Object.entries(queueStores))('a queue %s', (_, openStore) => {
  const opened = async (skip: (why: string) => never): Promise<QueueBackend> => {
    const backend = (await openStore()) ?? skip('there is no such store');
    onTestFinished(() => backend.close());
    return backend;
  };

  test('hands out the first that was added first, one that was given back before the others, and never more than may', async ({
    skip,
  }) => {
    const backend = await opened(skip);
    const queue = backend.openQueue<Data>(QUEUE);
    for (const key of ['a', 'b', 'c']) await queue.add(key, { n: 1 });
    const begun: string[] = [];
    let [running, most] = [0, 0];
    const worker = backend.openWorker(
      QUEUE,
      async (job) => {
        most = Math.max(most, ++running);
        begun.push(`${job.id} ${job.isFirstDelivery ? 'first' : 'again'}`);
        if (begun.length === 1) await job.giveBack();
        else await job.finish(begun.length);
        running--;
      },
      { concurrency: 1 },
    );
    worker.run();
    await eventually(() => expect(begun).toEqual(['a first', 'a again', 'b first', 'c first']), 30_000);
    await worker.close();
    expect(most).toBe(1);
    await queue.close();
  });

  test('brings a job that was snoozed again after its time', async ({ skip }) => {
    const backend = await opened(skip);
    const queue = backend.openQueue<Data>(QUEUE);
    const at: number[] = [];
    const worker = backend.openWorker(
      QUEUE,
      (job) => (at.push(Date.now()) === 1 ? job.snooze(300) : job.finish('done')),
      { concurrency: 1 },
    );
    worker.run();
    await queue.add('a', { n: 1 });
    await eventually(async () => expect(await queue.lookUp('a')).toEqual({ kind: 'ended', value: 'done' }), 30_000);
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(295); // a timer may fire a moment early
    await worker.close();
    await queue.close();
  });

  test('ends a job with nothing where its worker fails by a defect, and tells who asked', async ({ skip }) => {
    const backend = await opened(skip);
    const queue = backend.openQueue<Data>(QUEUE);
    const heard: Reply[] = [];
    const replies = queue.openReplies({ onReply: (reply) => heard.push(reply), onBack: () => {} });
    await replies.ready;
    const defects: unknown[] = [];
    const worker = backend.openWorker(QUEUE, () => Promise.reject(new Error('why')), {
      concurrency: 1,
      onDefect: (...defect) => defects.push(defect),
    });
    worker.run();
    await queue.add('a', { n: 1, replyTo: replies.address });
    await eventually(() => expect(heard).toEqual([{ kind: 'ended', id: 'a', value: null }]), 30_000);
    expect(await queue.lookUp('a')).toEqual({ kind: 'ended', value: null });
    expect(defects).toEqual([['a', expect.objectContaining({ message: 'why' })]]);
    await worker.close();
    await replies.close();
    await queue.close();
  });

  test('tells of a job to who asked for it and to who follows it, and to nobody else', async ({ skip }) => {
    const backend = await opened(skip);
    const queue = backend.openQueue<Data & { input?: string }>(QUEUE);
    const listen = () => {
      const heard: Reply[] = [];
      return { heard, ...queue.openReplies({ onReply: (reply) => heard.push(reply), onBack: () => {} }) };
    };
    const [one, other] = [listen(), listen()];
    await Promise.all([one.ready, other.ready]);
    let changes = 0;
    const stop = other.follow('a', () => changes++);
    const follows = async () => {
      await queue.tellChange('a', undefined);
      expect(changes).toBeGreaterThan(1);
    };
    await eventually(follows, 30_000);
    const before = changes;
    const worker = backend.openWorker(QUEUE, (job) => job.finish('done'), { concurrency: 1 });
    worker.run();
    // In an input an address leads nowhere.
    await queue.add('a', { n: 1, input: `"replyTo":"${other.address}"`, replyTo: one.address });
    await eventually(() => expect(one.heard).toEqual([{ kind: 'ended', id: 'a', value: 'done' }]), 30_000);
    await eventually(() => expect(changes).toBeGreaterThan(before), 30_000);
    await queue.tellChange('a', other.address);
    await eventually(() => expect(other.heard).toEqual([{ kind: 'changed', id: 'a' }]), 30_000);
    expect(one.heard).toHaveLength(1);
    stop();
    await worker.close();
    await Promise.all([one.close(), other.close()]);
    await queue.close();
  });

  test('forgets what ended long ago, and nothing else', async ({ skip }) => {
    const backend = await opened(skip);
    const queue = backend.openQueue<Data>(QUEUE);
    const worker = backend.openWorker(QUEUE, (job) => job.finish('done'), { concurrency: 1 });
    worker.run();
    await queue.add('ended', { n: 1 });
    await eventually(async () => expect((await queue.lookUp('ended')).kind).toBe('ended'), 30_000);
    await worker.close();
    await queue.add('waits', { n: 1 });
    await queue.removeOld(60_000);
    expect((await queue.lookUp('ended')).kind).toBe('ended');
    await eventually(async () => {
      await queue.removeOld(1);
      expect((await queue.lookUp('ended')).kind).toBe('missing');
    }, 30_000);
    expect((await queue.lookUp('waits')).kind).toBe('open');
    await queue.close();
  });

  test('brings messages to all, also those from before they listened, once and in order', async ({ skip }) => {
    const backend = await opened(skip);
    const heard: unknown[] = [];
    const sender = backend.openSender('messages', 100);
    await sender.send({ text: 'early' });
    const listening = backend.listen('messages', (message) => heard.push(message), { fromStart: true });
    await eventually(() => expect(heard).toEqual([{ text: 'early' }]), 30_000);
    await sender.send({ text: 'late' });
    await eventually(() => expect(heard).toEqual([{ text: 'early' }, { text: 'late' }]), 30_000);
    await listening.close();
    await sender.close();
  });
});
