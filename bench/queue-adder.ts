// BullMQ alone: adds jobs and hears of their ends, so many at once, for as many seconds as it is told; answers with their number.
import { randomUUID } from 'node:crypto';
import { Queue, QueueEvents } from 'bullmq';

const [url = '', callers = '1'] = process.argv.slice(2);
const common = { connection: { url }, prefix: '{rule-server-bench}' };
const queue = new Queue('alone', common);
const events = new QueueEvents('alone', common);
const waiting = new Map<string, () => void>();
events.on('completed', ({ jobId }) => {
  waiting.get(jobId)?.();
  waiting.delete(jobId);
});
await Promise.all([queue.waitUntilReady(), events.waitUntilReady()]);

async function callOften(until: number): Promise<number> {
  let calls = 0;
  for (; performance.now() < until; calls++) {
    const jobId = randomUUID();
    const ended = new Promise<void>((resolve) => waiting.set(jobId, resolve));
    const data = {
      v: 1,
      app: 1,
      ruleId: '1',
      confId: null,
      ts: null,
      target: 'all',
      input: '{"uid":1,"cost":120}',
      claimBy: Date.now(),
    };
    await queue.add('execute', data, { jobId });
    await ended;
  }
  return calls;
}

process.on('message', async (seconds) => {
  const until = performance.now() + Number(seconds) * 1000;
  const calls = await Promise.all(Array.from({ length: Number(callers) }, () => callOften(until)));
  process.send?.(calls.reduce((sum, each) => sum + each, 0));
});
process.send?.('ready');
