// BullMQ alone: completes every job at once, with a result of the size of ours.
import { Worker } from 'bullmq';

const [url = ''] = process.argv.slice(2);
const result = {
  v: 1,
  address: 'bench',
  success: true,
  outcome: 'TRUE',
  body: JSON.stringify({
    mockId: '0',
    success: true,
    'the service': { uid: 1, cost: 120 },
    process: '[1:And:T:0]',
    error: null,
  }),
};
const keep = { age: 180 };
const worker = new Worker('alone', async () => result, {
  connection: { url },
  concurrency: 2000,
  removeOnComplete: keep,
  prefix: '{rule-server-bench}',
});
await worker.waitUntilReady();
process.send?.('ready');
