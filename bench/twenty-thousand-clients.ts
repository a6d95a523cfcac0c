// `node bench/twenty-thousand-clients.ts`: what a call to any client (target `all`) takes where COUNT are registered and online, in one app.
//   COUNT=20000  BENCH_SECONDS=10
import { failuresOf } from './failures.ts';
import { load } from './load.ts';
import { startScript, startService, stop, untilReady, usage } from './processes.ts';
import { setUp } from './set-up.ts';

const { COUNT = '20000', BENCH_SECONDS = '10' } = process.env;
const SECONDS = Number(BENCH_SECONDS);
const APP = 1;

const { sharedDir, common, url, tearDown } = await setUp();
try {
  const { child: clients } = await startScript('./many-clients.ts', [sharedDir, String(APP), COUNT]);
  const api = startService('api', common);
  const worker = startService('worker', common);
  await untilReady(`${url}/readyz`, 60_000);
  for (const callers of [1, 1, 10, 50]) {
    const done = await load(url, callers, SECONDS, { app: APP, ruleId: 1 });
    const times = `p50 ${done.p50.toFixed(1)} ms   p99 ${done.p99.toFixed(1)} ms`;
    console.log(
      `${COUNT} clients, ${callers} callers: ${times}   ${done.perSecond.toFixed(0)} calls/s   ${failuresOf([done])}`,
    );
  }
  for (const look of ['first', 'next']) {
    const startedAt = performance.now();
    const listed = await (await fetch(`${url}/rule-server/mock/clients?app=${APP}`)).text();
    const ms = (performance.now() - startedAt).toFixed(0);
    console.log(`GET clients (${look}): ${listed.split('"address"').length - 1} in ${ms} ms`);
  }
  console.log(
    `the worker afterwards: ${usage(worker).megabytes.toFixed(0)} MB, ${usage(worker).cpuSeconds.toFixed(0)} s of CPU`,
  );
  await stop(api, worker, clients);
} finally {
  await tearDown();
}
