// `node bench/ledger.ts`: what one call costs, by process: CPU, Redis commands and bytes, file operations. All is counted,
// beside BullMQ alone and the floor in the same run, so that a change of the code shows in one line what it brought.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { type Costs, costsOf } from './costs.ts';
import { countFileOperations } from './count-operations.ts';
import { tellFailures, tellLeftOut, tellMeasured } from './findings.ts';
import { load } from './load.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const CALLERS = 100;
/** Until the compiler has seen the code often enough. */
const WARM_UP_SECONDS = SECONDS;

const sharedDir = await makeSharedDir();
const port = await freePort();
const redis = startRedis(port);
const REDIS_URL = `redis://127.0.0.1:${port}`;

try {
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const floor = await measureFloor();
  const queue = await measureQueueAlone();
  const ours = await measureOurs();
  report(floor, queue, ours);
  await stop(responder);
} finally {
  await stop(redis);
  await rm(sharedDir, { recursive: true, force: true });
}

/** Makes calls, and resolves to their number. Those that failed cost something, too. */
async function calls(what: string, url: string, callers: number, seconds: number): Promise<number> {
  const made = await load(url, callers, seconds);
  if (made.failed > 0) console.log(`  ${what}: ${tellFailures(`ledger, ${what}`, made)}`);
  return made.calls;
}

async function measureFloor(): Promise<Costs> {
  const { child, message: at } = await startScript('./floor.ts', [sharedDir, '1', 'bench']);
  const url = `http://127.0.0.1:${at}`;
  await calls('floor, warming up', url, CALLERS, WARM_UP_SECONDS);
  const costs = await costsOf({ floor: child }, REDIS_URL, () => calls('floor', url, CALLERS, SECONDS));
  child.kill('SIGKILL');
  return costs;
}

/** BullMQ with jobs and results of our size: one process adds them and hears of their ends, one completes them at once. */
async function measureQueueAlone(): Promise<Costs> {
  const { child: worker } = await startScript('./queue-worker.ts', [REDIS_URL]);
  const { child: adder } = await startScript('./queue-adder.ts', [REDIS_URL, String(CALLERS)]);
  await run(adder, WARM_UP_SECONDS);
  const costs = await costsOf({ adder, worker, redis }, REDIS_URL, () => run(adder, SECONDS));
  adder.kill('SIGKILL');
  worker.kill('SIGKILL');
  return costs;
}

async function run(adder: ChildProcess, seconds: number): Promise<number> {
  adder.send(seconds);
  const [calls] = await once(adder, 'message');
  return Number(calls);
}

async function measureOurs() {
  const common = { REDIS_URL, SHARED_DIR: sharedDir, MAX_WAITS_PER_CLIENT: '5000' };
  const [PORT, IDLE_PORT] = [String(await freePort()), String(await freePort())];
  const api = startService('api', { ...common, PORT });
  const idle = startService('api', { ...common, PORT: IDLE_PORT });
  const worker = startService('worker', common);
  const url = `http://127.0.0.1:${PORT}`;
  await Promise.all([untilReady(`${url}/readyz`), untilReady(`http://127.0.0.1:${IDLE_PORT}/readyz`)]);
  await calls('warming up', url, 1, 1);
  const operations = // first: of calls that a load cuts off some work comes later
    worker.pid === undefined
      ? undefined
      : await countFileOperations(worker.pid, () => calls('one at a time', url, 1, 3));
  await calls('warming up', url, CALLERS, WARM_UP_SECONDS);
  const measured = () => calls(`${CALLERS} callers`, url, CALLERS, SECONDS);
  const costs = await costsOf({ api, worker, redis, idle }, REDIS_URL, measured);
  await stop(api, idle, worker);
  return { ...costs, operations };
}

function report(floor: Costs, queue: Costs, ours: Awaited<ReturnType<typeof measureOurs>>): void {
  const line = (name: string, { cpu, calls }: Costs) => {
    const parts = Object.entries(cpu).map(([process, us]) => `${process} ${us.toFixed(0)}`);
    console.log(`  ${name.padEnd(14)} ${sumOf(cpu).toFixed(0).padStart(6)}   (${parts.join(', ')}; ${calls} calls)`);
  };
  console.log(`CPU of a call at ${CALLERS} callers, µs`);
  line('floor', floor);
  line('BullMQ alone', queue);
  const { idle = 0, ...busy } = ours.cpu;
  line('rule server', { ...ours, cpu: busy });
  const least = sumOf(floor.cpu) + sumOf(queue.cpu);
  tellMeasured('cpu', sumOf(busy) / least, `${sumOf(busy).toFixed(0)} µs; the aim is 750`);
  tellMeasured('idleApi', idle);
  console.log(`  ${(sumOf(busy) / least).toFixed(2)} × BullMQ alone and the floor together (${least.toFixed(0)} µs)`);
  console.log(`  ${idle.toFixed(0)} µs in an API that nobody calls`);
  for (const [name, { redis, each }] of [
    ['BullMQ alone', queue],
    ['rule server', ours],
  ] as const) {
    console.log(
      `Redis, ${name}: ${redis.commands.toFixed(1)} commands a call, ${redis.scripts.toFixed(1)} of them scripts; ` +
        `${redis.bytesIn.toFixed(0)} bytes in ${redis.reads.toFixed(1)} reads, ${redis.bytesOut.toFixed(0)} out in ${redis.writes.toFixed(1)} writes`,
    );
    const most = Object.entries(each).toSorted(([, a], [, b]) => b - a);
    console.log(
      `  ${most
        .slice(0, 24)
        .map(([command, calls]) => `${command} ${calls.toFixed(1)}`)
        .join(', ')}`,
    );
  }
  reportOperations(ours.operations);
}

function reportOperations(operations: Awaited<ReturnType<typeof countFileOperations>>): void {
  if (!operations) {
    tellLeftOut(['operations'], 'file operations are counted with strace, which cannot be used here');
    return;
  }
  const names = Object.entries(operations.each).map(([call, times]) => `${call} ${times.toFixed(1)}`);
  const counted = `${operations.perCall.toFixed(1)} a call (${names.join(', ')})`;
  console.log(`File operations of the worker, one at a time: ${counted}`);
  tellMeasured('operations', operations.perCall, names.join(', '));
}

function sumOf(parts: Record<string, number>): number {
  return Object.values(parts).reduce((sum, part) => sum + part, 0);
}
