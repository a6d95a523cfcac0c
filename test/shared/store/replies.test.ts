import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { openQueueBackend } from '../../../src/shared/store/queue/open-queue-backend.ts';
import type { QueueBackend } from '../../../src/shared/store/queue/queue-backend.ts';
import { queueNames } from '../../../src/shared/store/queue/queue-names.ts';
import type { Reply } from '../../../src/shared/store/replies/replies.ts';
import { borrowEmbeddedQueue } from '../../support/embedded-queue.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';

const choice = inject('redis');
type Data = { input?: string; replyTo?: string };

describe('on the embedded queue, how a job ended', () =>
  suite(async () => {
    const { backend, giveBack } = await borrowEmbeddedQueue();
    return { ...backend, close: giveBack };
  }));

describe.skipIf(choice.kind === 'unavailable')('on Redis, how a job ended', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis(choice);
  });
  afterAll(() => server?.stop());
  suite(() => openQueueBackend(server.url));

  it('is told as the job holds it: not as a worker believes whose completion was refused', async () => {
    const redis = connect();
    let attempts = 0;
    const { queue, add, listen } = await open(await openQueueBackend(server.url), async (id) => {
      if (++attempts > 1) return { attempt: attempts };
      await redis.set(`${queue.toKey(id)}:lock`, 'of another worker', 'PX', 500);
      return { attempt: 'refused' };
    });
    const { heard, address } = await listen();
    const id = await add({ replyTo: address });
    await eventually(() => expect(heard).toEqual([{ kind: 'completed', id, value: { attempt: 2 } }]), 15_000);
  });

  it('is told by a Redis that forgot all scripts', async () => {
    const redis = connect();
    const { add, listen } = await open(await openQueueBackend(server.url), async () => ({ done: true }));
    const { heard, address } = await listen();
    await add({ replyTo: address });
    await eventually(() => expect(heard).toHaveLength(1), 5000);
    await redis.script('FLUSH');
    await add({ replyTo: address });
    await eventually(() => expect(heard).toHaveLength(2), 1000);
  });

  it('may be lost with the connection: who asked is told that replies arrive again', async () => {
    const redis = connect();
    const { add, listen } = await open(await openQueueBackend(server.url), async () => ({ done: true }));
    const { heard, address, back } = await listen();
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => expect(back.times).toBe(1), 5000);
    const id = await add({ replyTo: address });
    await eventually(() => expect(heard).toEqual([{ kind: 'completed', id, value: { done: true } }]), 1000);
  });

  function connect(): Redis {
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    return redis;
  }
});

function suite(openBackend: () => Promise<QueueBackend>): void {
  it('is told to who asked for it, and to nobody else', async () => {
    const { add, listen } = await open(await openBackend(), async () => ({ answer: 'ä 1.0' }));
    const [one, other] = [await listen(), await listen()];
    const quoted = `"replyTo":"${other.address}"`; // in an input this leads nowhere
    const id = await add({ input: JSON.stringify({ text: quoted }), replyTo: one.address });
    await eventually(() => expect(one.heard).toEqual([{ kind: 'completed', id, value: { answer: 'ä 1.0' } }]), 5000);
    const second = await add({ replyTo: other.address });
    await eventually(() => expect(other.heard.map((reply) => reply.id)).toEqual([second]), 5000);
    expect(one.heard).toHaveLength(1);
  });

  it('is told as a change when it failed', async () => {
    const { add, listen } = await open(await openBackend(), () => Promise.reject(new Error('no luck today')));
    const { heard, address } = await listen();
    const id = await add({ replyTo: address });
    await eventually(() => expect(heard).toEqual([{ kind: 'changed', id }]), 5000);
  });

  it('is told to all who follow the job, whoever asked for it; and so is a change that no worker made', async () => {
    const release = Promise.withResolvers<object>();
    const { add, listen, backend, queue } = await open(await openBackend(), () => release.promise);
    const { replies, heard } = await listen();
    const id = randomUUID();
    let changes = 0;
    const stop = replies.follow(id, () => changes++);
    await eventually(async () => {
      await backend.tellChange(queue, id, replies.address);
      expect(heard.at(-1)).toEqual({ kind: 'changed', id });
      expect(changes).toBeGreaterThan(1);
    }, 5000);
    const before = changes;
    await add({}, id);
    release.resolve({});
    await eventually(() => expect(changes).toBeGreaterThan(before), 5000);
    stop();
  });
}

/** A queue with a worker that does as `process` says. */
async function open(backend: QueueBackend, process: (id: string) => Promise<object>) {
  onTestFinished(() => backend.close());
  await backend.connected;
  const queue = backend.openQueue<Data, object>(queueNames.executions);
  queue.on('error', () => {});
  const worker = backend.openWorker<Data, object>(queueNames.executions, ({ id = '' }) => process(id), 10);
  worker.on('error', () => {});
  worker.run().catch(() => {});
  onTestFinished(async () => {
    await Promise.all([worker.close(true), queue.close()]);
  });
  return {
    backend,
    queue,
    async add(data: Data, id: string = randomUUID()): Promise<string> {
      await queue.add('execute', data, { jobId: id });
      return id;
    },
    async listen() {
      const heard: Reply[] = [];
      const back = { times: 0 };
      const replies = backend.openReplies(queue, { onReply: (reply) => heard.push(reply), onBack: () => back.times++ });
      onTestFinished(() => replies.close());
      await replies.ready;
      return { replies, address: replies.address, heard, back };
    },
  };
}
