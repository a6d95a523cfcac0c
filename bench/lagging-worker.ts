// `node bench/lagging-worker.ts`: two workers, one of which is stopped for half of the time, 200 ms each. How many calls each of them takes,
// and what a call takes, beside the same with both running. A worker that lags has to take fewer.
//   PER_SECOND=150  SECONDS=15
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, failuresIn, type Outcome } from './call-once.ts';
import { median } from './median.ts';
import { freePort, startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const { PER_SECOND = '150', SECONDS = '15' } = process.env;
const STOPPED_MS = 200;
const TURN_MS = 400;

const { sharedDir, common, url, tearDown } = await setUp();
try {
  const { child: client } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const api = startService('api', common);
  const ports = [await freePort(), await freePort()];
  const workers = ports.map((port) => startService('worker', { ...common, WORKER_PORT: String(port) }));
  for (const port of ports) await untilReady(`http://127.0.0.1:${port}/readyz`);
  await untilReady(`${url}/readyz`);
  await offer(500);
  console.log(`both run: ${await measure(ports)}`);
  const stopping = setInterval(() => {
    workers[0]?.kill('SIGSTOP');
    setTimeout(() => workers[0]?.kill('SIGCONT'), STOPPED_MS);
  }, TURN_MS);
  console.log(`the first one stops ${STOPPED_MS} of each ${TURN_MS} ms: ${await measure(ports)}`);
  clearInterval(stopping);
  await sleep(TURN_MS);
  await stop(api, ...workers, client);
} finally {
  await tearDown();
}

async function measure(ports: readonly number[]): Promise<string> {
  const before = await Promise.all(ports.map(ended));
  const calls = await offer(Number(PER_SECOND) * Number(SECONDS));
  const after = await Promise.all(ports.map(ended));
  const shares = after.map((count, at) => count - (before[at] ?? 0));
  const ms = calls.map((call) => call.ms).toSorted((one, other) => one - other);
  const p99 = ms[Math.floor(ms.length * 0.99)] ?? Number.NaN;
  const { failed, why } = failuresIn(calls);
  return `${shares.join(' and ')} calls, p50 ${median(ms).toFixed(0)} ms, p99 ${p99.toFixed(0)} ms, ${failed} failed ${why}`;
}

async function offer(count: number): Promise<Outcome[]> {
  const calls: Promise<Outcome>[] = [];
  for (const since = performance.now(); calls.length < count; await sleep(5))
    while (calls.length < count && calls.length < ((performance.now() - since) * Number(PER_SECOND)) / 1000)
      calls.push(callOnce(url));
  return Promise.all(calls);
}

/** How many executions a worker has ended. */
async function ended(port: number): Promise<number> {
  const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return [...metrics.matchAll(/^rule_server_executions_total\{[^}]*\} (\d+)$/gm)].reduce(
    (sum, [, n]) => sum + Number(n),
    0,
  );
}
