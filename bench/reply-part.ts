// One process of `bench/replies.ts`: MECHANISM (stream, relay, pubsub) and ROLE (worker, or an API that adds as it is told).
import { randomUUID } from 'node:crypto';
import { type Job, Queue, QueueEvents, Relay, Worker } from 'bullmq';
import { queueNames } from '../src/shared/contract/queue-names.ts';
import { openQueueBackend } from '../src/shared/queue/open-queue-backend.ts';

const [mechanism = 'stream', role = 'worker', url = ''] = process.argv.slice(2);
const common = { connection: { url }, prefix: '{rule-server}' };
const body = JSON.stringify({ mockId: randomUUID(), success: true, 'the service': { uid: 1 }, process: '[1:And:T:0]' });
const result = { v: 1, address: 'bench', success: true, outcome: 'TRUE', body };
const waiting = new Map<string, () => void>();
const name = queueNames.executions;
const settle = (id: string) => {
  waiting.get(id)?.();
  waiting.delete(id);
};

if (role === 'worker') await startWorker();
else await startApi();
process.send?.('ready');

async function startWorker(): Promise<void> {
  if (mechanism === 'pubsub') {
    const backend = await openQueueBackend(url);
    backend.openWorker(name, (job) => job.finish(result), { concurrency: 2000 }).run();
    return;
  }
  const relay = mechanism === 'relay' ? new Relay(common) : undefined;
  await relay?.waitUntilReady();
  const worker = new Worker(name, async () => result, { ...common, concurrency: 2000, removeOnComplete: { age: 180 } });
  worker.on('completed', (job: Job) => relay?.publish(job.data.replyTo, { id: job.id, result: job.returnvalue }));
  await worker.waitUntilReady();
}

async function startApi(): Promise<void> {
  const queue = new Queue(name, common);
  const replyTo = await listen();
  const data = {
    v: 1,
    replyTo,
    app: 1,
    ruleId: '1',
    target: 'all',
    input: '{"uid":1,"cost":120}',
    claimBy: Date.now(),
  };
  process.on('message', async (order) => {
    const { callers, seconds } = order as { callers: number; seconds: number };
    const until = performance.now() + seconds * 1000;
    const took: number[] = [];
    const call = async () => {
      while (performance.now() < until) {
        const startedAt = performance.now();
        const jobId = randomUUID();
        const ended = new Promise<void>((resolve) => waiting.set(jobId, resolve));
        await queue.add('execute', data, { jobId });
        await ended;
        took.push(performance.now() - startedAt);
      }
    };
    await Promise.all(Array.from({ length: callers }, call));
    took.sort((a, b) => a - b);
    process.send?.({ calls: took.length, p50: took[Math.floor(took.length / 2)] ?? 0 });
  });
}

/** Begins to hear of ended jobs; resolves to what their data says as `replyTo`. */
async function listen(): Promise<string> {
  const topic = randomUUID();
  if (mechanism === 'stream') {
    const events = new QueueEvents(name, common);
    events.on('completed', ({ jobId }) => settle(jobId));
    await events.waitUntilReady();
    return topic;
  }
  if (mechanism === 'relay') {
    await new Relay(common).subscribe<{ id: string }>(topic, ({ data }) => settle(data.id));
    return topic;
  }
  const backend = await openQueueBackend(url);
  const replies = backend.openQueue(name).openReplies({ onReply: ({ id }) => settle(id), onBack: () => {} });
  await replies.ready;
  return replies.address;
}
