import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import type { Finished, Reply, TakenJob, WorkerOptions } from '../../../src/shared/queue/queue.ts';
import { DEFAULT_PREFIX } from '../../../src/shared/runtime/settings/redis-address.ts';
import { historyPrefix } from '../../../src/shared/store/history/redis-history.ts';
import { HISTORIES } from '../../../src/shared/store/redis/redis-stores.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';

const choice = inject('redis');
/** A worker that missed a job finds it when it looks again, which an idle one does every 5 s. */
const BEFORE_IT_LOOKS_AGAIN = { timeout: 4000, interval: 5 };

describe.skipIf(choice.kind === 'unavailable')('on Redis, a job', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis(choice);
  });
  afterAll(() => server?.stop());

  it('whose completion Redis refuses completes with the same answer once Redis takes it, and is taken once', async () => {
    const redis = connect();
    const errors: unknown[] = [];
    const taken: string[] = [];
    const begun = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const { queue, listen } = await open(
      async (job) => {
        taken.push(job.id);
        begun.resolve();
        await go.promise;
        return job.finish('the answer');
      },
      { onError: (error) => errors.push(error) },
    );
    const { heard, address } = await listen();
    const id = randomUUID();
    await queue.add(id, { replyTo: address });
    await begun.promise;
    onTestFinished(() => void redis.config('SET', 'maxmemory', 0).catch(() => {}));
    await redis.config('SET', 'maxmemory', 1);
    go.resolve();
    await eventually(() => expect(errors.map(String)).toContainEqual(expect.stringContaining('OOM')));
    await redis.config('SET', 'maxmemory', 0);
    await eventually(() => expect(heard).toEqual([{ kind: 'ended', id, value: 'the answer' }]));
    expect(taken).toEqual([id]);
  });

  it('that another worker has by now is lost, and nothing is told of the answer', async () => {
    const redis = connect();
    const finished: Finished[] = [];
    const { queue, listen } = await open(
      async (job) => {
        if (finished.length === 0)
          await redis.set(`${DEFAULT_PREFIX}:${queue.name}:${job.id}:lock`, 'of another worker', 'PX', 500);
        finished.push(await job.finish(finished.length));
      },
      { lockMs: 1000 },
    );
    const { heard, address } = await listen();
    const id = randomUUID();
    await queue.add(id, { replyTo: address });
    await eventually(() => expect(heard).toEqual([{ kind: 'ended', id, value: 1 }]));
    expect(finished).toMatchObject([{ kind: 'lost' }, { kind: 'finished' }]);
  });

  it('is told by a Redis that forgot all scripts', async () => {
    const redis = connect();
    const { queue, listen } = await open((job) => job.finish('done'));
    const { heard, address } = await listen();
    for (let n = 1; n <= 2; n++) {
      await queue.add(randomUUID(), { replyTo: address });
      await eventually(() => expect(heard).toHaveLength(n));
      await redis.script('FLUSH');
    }
  });

  it('may be told while nobody hears: who asked is told that replies arrive again', async () => {
    const redis = connect();
    const { queue, listen } = await open((job) => job.finish('done'));
    const { heard, address, back } = await listen();
    await redis.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually(() => expect(back.times).toBe(1));
    const id = randomUUID();
    await queue.add(id, { replyTo: address });
    await eventually(() => expect(heard).toEqual([{ kind: 'ended', id, value: 'done' }]));
  });

  it('that is the first of a backlog is begun before the others are fetched', async () => {
    const first = Promise.withResolvers<number>();
    const { queue, worker } = await open(
      async (job) => {
        first.resolve((await queue.count()).taken);
        return job.finish(1);
      },
      { concurrency: 500 },
      false,
    );
    await Promise.all(Array.from({ length: 500 }, () => queue.add(randomUUID(), {})));
    worker.run();
    expect(await first.promise).toBeLessThan(50);
  });

  it('is begun at once however many others do not end, and never more run than may', async () => {
    const ends: (() => void)[] = [];
    let running = 0;
    let most = 0;
    let ended = 0;
    const { queue } = await open(
      async (job) => {
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => ends.push(resolve));
        running--;
        await job.finish(1);
        ended++;
      },
      { concurrency: 45, lockMs: 30_000 },
    );
    const add = (count: number) => Promise.all(Array.from({ length: count }, () => queue.add(randomUUID(), {})));
    await add(40);
    await expect.poll(() => running, BEFORE_IT_LOOKS_AGAIN).toBe(40);
    for (let more = 41; more <= 45; more++) {
      await add(1);
      await expect.poll(() => running, BEFORE_IT_LOOKS_AGAIN).toBe(more);
    }
    await add(60);
    const ending = setInterval(() => ends.splice(0).map((end) => end()), 5);
    onTestFinished(() => clearInterval(ending));
    await expect.poll(() => ended, { timeout: 60_000 }).toBe(105);
    expect(most).toBe(45);
  });

  it('that ends brings the next in the same step', async () => {
    const redis = connect();
    const jobs = 40;
    const { queue, worker } = await open((job) => job.finish('done'), { concurrency: 1, lockMs: 300_000 }, false);
    await Promise.all(Array.from({ length: jobs }, () => queue.add(randomUUID(), {})));
    const scripts = async () => Number(/cmdstat_evalsha:calls=(\d+)/.exec(await redis.info('commandstats'))?.[1]);
    const before = await scripts();
    worker.run();
    const ended = () => redis.zcard(`${DEFAULT_PREFIX}:${queue.name}:completed`);
    await eventually(async () => expect(await ended()).toBe(jobs));
    // Beside those that end a job, some look for stalled ones and fetch the first job, and again when there is none.
    expect((await scripts()) - before).toBeLessThan(jobs * 1.25);
  });

  it("that is erased takes its events with it, and nobody else's", async () => {
    const redis = connect();
    const { queue } = await open((job) => job.finish(`answer of ${job.id}`));
    for (const id of ['erased', 'stays']) {
      await queue.add(id, {});
      await eventually(async () => expect((await queue.lookUp(id)).kind).toBe('ended'));
    }
    const events = async () => JSON.stringify(await redis.xrange(`${DEFAULT_PREFIX}:${queue.name}:events`, '-', '+'));
    expect(await events()).toContain('answer of erased');
    await queue.erase('erased');
    expect(await events()).not.toContain('erased');
    expect(await events()).toContain('answer of stays');
    expect((await queue.lookUp('erased')).kind).toBe('missing');
  });

  it('that ended a while ago and is in no history is missing there; one process is told so', async () => {
    const redis = connect();
    const limits = { count: 100, seconds: 3600, bytes: 1_000_000 };
    const { queue } = await open((job) => job.finish('done'));
    const of = (name: string) => `${DEFAULT_PREFIX}:${name}`;
    for (const id of ['lost', 'kept', 'batched', 'young']) {
      await queue.add(id, {});
      await eventually(async () => expect((await queue.lookUp(id)).kind).toBe('ended'));
    }
    for (const id of ['lost', 'kept', 'batched']) await redis.zincrby(of(`${queue.name}:completed`), -20_000, id);
    await redis.zincrby(of(`${queue.name}:completed`), 60_000, 'young'); // however slow this machine is
    await redis.set(`${historyPrefix(DEFAULT_PREFIX, HISTORIES.calls)}record:kept`, 1);
    await redis.set(`${historyPrefix(DEFAULT_PREFIX, HISTORIES.batches)}record:batched`, 1);
    expect(await queue.missingRecords(limits)).toEqual(['lost']);
    expect(await queue.missingRecords(limits)).toEqual([]);
  });

  function connect(): Redis {
    const redis = new Redis(server.url);
    onTestFinished(() => redis.disconnect());
    return redis;
  }

  /** A queue of its own with a worker that does as `process` says. */
  async function open(
    process: (job: TakenJob) => Promise<unknown>,
    options: Partial<WorkerOptions> = {},
    isRun = true,
  ) {
    const backend = await openQueueBackend(server.url);
    await backend.connected;
    const queue = backend.openQueue<{ replyTo?: string }>(randomUUID());
    const worker = backend.openWorker(queue.name, process, { concurrency: 10, ...options });
    if (isRun) worker.run();
    onTestFinished(async () => {
      await worker.close();
      await queue.close();
      await backend.close();
    });
    return {
      ...{ queue, worker },
      async listen() {
        const heard: Reply[] = [];
        const back = { times: 0 };
        const replies = queue.openReplies({ onReply: (reply) => heard.push(reply), onBack: () => back.times++ });
        onTestFinished(() => replies.close());
        await replies.ready;
        return { address: replies.address, heard, back };
      },
    };
  }
});
