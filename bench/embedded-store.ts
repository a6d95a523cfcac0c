// What the embedded store takes of the processor for one call, without HTTP and files: the job is added, taken, told twice how far it is, and
// completed together with its record. In turns: without flushes, with them, and with a disk whose flush takes 5 ms more. At the end what it
// would cost beside that to have SQLite in a thread: four messages there and back.
// `node bench/embedded-store.ts [calls] [at once]`
import fs from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import type { Queue, QueueWorker } from '../src/shared/queue/queue.ts';
import type { Database } from '../src/shared/store/embedded/file/database.ts';

const CALLS = Number(process.argv[2] ?? 6000);
const AT_ONCE = Number(process.argv[3] ?? 16);
const SLOW_MS = 5;

let flushes = 0;
let slowMs = 0;
const flush = fs.fdatasync;
fs.fdatasync = Object.assign(
  (handle: number, done: fs.NoParamCallback) => {
    flushes++;
    flush(handle, (error) => (slowMs === 0 ? done(error) : setTimeout(() => done(error), slowMs)));
  },
  { __promisify__: flush.__promisify__ },
);
syncBuiltinESMExports();
const { openDatabase } = await import('../src/shared/store/embedded/file/database.ts');
const { createEmbeddedReplies } = await import('../src/shared/queue/sqlite/replies.ts');
const { createSqliteQueues } = await import('../src/shared/queue/sqlite/sqlite-queue.ts');
const { prepareTables } = await import('../src/shared/store/embedded/file/embedded-store.ts');
const { openTables } = await import('../src/shared/store/embedded/stores/tables.ts');

const text = (bytes: number) => 'x'.repeat(bytes);
const input = { v: 1, app: 1, ruleId: '1', input: text(400) };

async function measure(name: string, { isFlushed, slow }: { isFlushed: boolean; slow: number }): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'embedded-store-'));
  const database: Database = openDatabase({ path: join(folder, 'store.db'), flush: isFlushed });
  await prepareTables(database);
  const history = openTables(database)('history');
  const { openQueue, openWorker } = createSqliteQueues({
    database,
    telemetry: undefined,
    replies: createEmbeddedReplies(),
  });
  const queue = openQueue<object>('executions');
  const ended = new Map<string, () => void>();
  const worker: QueueWorker = openWorker(
    'executions',
    async (job) => {
      await job.report({ sent: text(100) });
      await job.report({ picked: text(100) });
      await job.finish({ body: text(400) });
      await history.put([
        { key: job.id, info: text(500) },
        { key: `${job.id}:input`, text: text(400) },
        { key: `${job.id}:result`, text: text(400) },
      ]);
      ended.get(job.id)?.();
    },
    { concurrency: AT_ONCE },
  );
  worker.run();
  slowMs = slow;
  flushes = 0;
  const times: number[] = [];
  let next = 0;
  const loop = monitorEventLoopDelay({ resolution: 1 });
  loop.enable();
  const began = performance.now();
  const before = process.cpuUsage();
  const caller = async () => {
    while (next < CALLS) {
      const since = performance.now();
      await oneCall(queue, ended, `${next++}-${name}`);
      times.push(performance.now() - since);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  const cpu = process.cpuUsage(before);
  const seconds = (performance.now() - began) / 1000;
  loop.disable();
  times.sort((one, other) => one - other);
  const figures = [
    `${((cpu.user + cpu.system) / CALLS).toFixed(0)} µs of the processor a call`,
    `${(CALLS / seconds).toFixed(0)} calls/s`,
    `p50 ${times[Math.floor(CALLS / 2)]?.toFixed(1)} ms`,
    `${(flushes / CALLS).toFixed(2)} flushes a call`,
    `the event loop waited at most ${(loop.max / 1e6).toFixed(0)} ms`,
  ];
  console.log(`${name}: ${figures.join(', ')}`);
  await worker.close();
  database.close();
  await rm(folder, { recursive: true });
}

async function oneCall(queue: Queue<object>, ended: Map<string, () => void>, id: string): Promise<void> {
  const over = new Promise<void>((resolve) => ended.set(id, resolve));
  await queue.add(id, input, { head: text(250) });
  await over;
  ended.delete(id);
}

for (let round = 1; round <= 2; round++) {
  console.log(`round ${round}: ${CALLS} calls, ${AT_ONCE} at once`);
  await measure('without flushes', { isFlushed: false, slow: 0 });
  await measure('with flushes', { isFlushed: true, slow: 0 });
  await measure(`with flushes of ${SLOW_MS} ms more`, { isFlushed: true, slow: SLOW_MS });
  await delay(100);
}

await measureThread();

/** Messages to a thread that answers at once, as the operations of a call would be. */
async function measureThread(): Promise<void> {
  const code = `const { parentPort } = require('node:worker_threads'); parentPort.on('message', (m) => parentPort.postMessage(m));`;
  const thread = new Worker(code, { eval: true });
  const waiting = new Map<string, () => void>();
  thread.on('message', ({ id }: { id: string }) => waiting.get(id)?.());
  const ask = (id: string) =>
    new Promise<void>((resolve) => {
      waiting.set(id, resolve);
      thread.postMessage({ id, data: input });
    });
  await ask('first');
  let next = 0;
  const before = process.cpuUsage();
  const caller = async () => {
    while (next < CALLS) {
      const call = next++;
      for (const operation of ['add', 'take', 'progress', 'finish']) await ask(`${operation}-${call}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, caller));
  const cpu = process.cpuUsage(before);
  console.log(
    `four messages to a thread and back: ${((cpu.user + cpu.system) / CALLS).toFixed(0)} µs of the processor a call`,
  );
  await thread.terminate();
}
