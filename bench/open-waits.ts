// `node bench/open-waits.ts`: what an API and a worker use while 2,000 calls are open at a client that takes 5 s for each. Calls begin at
// once, or PER_SECOND of them a second: so many that workers can begin, with a WAIT_MS that is longer than the whole beginning takes.
//   OPEN=2000  PER_SECOND=  WAIT_MS=5000
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, failuresIn } from './call-once.ts';
import { tellFailures } from './findings.ts';
import { startScript, startService, stop, untilReady, usage } from './processes.ts';
import { setUp } from './set-up.ts';

const OPEN_WAITS = Number(process.env.OPEN ?? 2000);
const PER_SECOND = Number(process.env.PER_SECOND || Number.POSITIVE_INFINITY);
const WAIT_MS = Number(process.env.WAIT_MS ?? 5000);
const CHECK_MS = 100;
const APP = 2;

const { sharedDir, common: own, url, tearDown } = await setUp(process.env.REDIS_URL);
try {
  const { child: slow } = await startScript('./responder.ts', [sharedDir, String(APP), 'slow', String(WAIT_MS)]);
  const room = {
    MAX_WAITS_PER_CLIENT: String(OPEN_WAITS),
    WORKER_CONCURRENCY: String(OPEN_WAITS + 100),
    MAX_QUEUED: '20000',
  };
  const common = { ...own, ...room, RESULT_TIMEOUT_MS: String(2 * WAIT_MS) };
  const [api, worker] = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  const call = () => callOnce(url, { app: APP });
  const first = await call();
  const calls: ReturnType<typeof call>[] = [];
  for (const since = performance.now(); calls.length < OPEN_WAITS; await sleep(CHECK_MS)) {
    const due = Math.min(OPEN_WAITS, (PER_SECOND * (performance.now() - since + CHECK_MS)) / 1000);
    while (calls.length < due) calls.push(call());
  }
  await sleep(Math.max(3000, WAIT_MS * 0.1)); // all of them are open, none has ended
  const look = () => ({ api: usage(api), worker: usage(worker) });
  const before = look();
  await sleep(1000);
  const after = look();
  const failures = tellFailures(`${OPEN_WAITS} open waits`, failuresIn([first, ...(await Promise.all(calls))]));
  console.log(`${OPEN_WAITS} waits of ${WAIT_MS} ms open at once: ${failures}`);
  for (const name of ['api', 'worker'] as const) {
    const cpu = (after[name].cpuSeconds - before[name].cpuSeconds) * 100;
    const memory = after[name].megabytes.toFixed(0).padStart(5);
    console.log(`  ${name.padEnd(7)} ${memory} MB   ${cpu.toFixed(0).padStart(3)} % of a core while waiting`);
  }
  await stop(api, worker, slow);
} finally {
  await tearDown();
}
