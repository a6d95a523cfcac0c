// `node bench/open-waits.ts`: what an API and a worker use while 2,000 calls are open at a client that takes 5 s for each.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, failuresIn } from './call-once.ts';
import { tellFailures } from './findings.ts';
import { startScript, startService, stop, untilReady, usage } from './processes.ts';
import { setUp } from './set-up.ts';

const OPEN_WAITS = 2000;
const WAIT_MS = 5000;
const APP = 2;

const { sharedDir, common: own, url, tearDown } = await setUp(process.env.REDIS_URL);
try {
  const { child: slow } = await startScript('./responder.ts', [sharedDir, String(APP), 'slow', String(WAIT_MS)]);
  const common = { ...own, MAX_WAITS_PER_CLIENT: '5000' };
  const [api, worker] = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  const call = () => callOnce(url, { app: APP });
  const first = await call();
  const calls = Array.from({ length: OPEN_WAITS }, call);
  await sleep(WAIT_MS * 0.6); // all of them are open, none has ended
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
