// `node bench/crowd.ts`: what a call to one client takes, second by second, while CROWD calls wait for another client that does not answer.
//   CROWD=2000  SECONDS=9
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, type Outcome } from './call-once.ts';
import { median } from './median.ts';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const { CROWD = '2000', SECONDS = '9' } = process.env;
const [SILENT, OTHER] = [1, 2];
const EVERY_MS = 50;
const NEVER_MS = '100000';

const { sharedDir, common, url, tearDown } = await setUp(process.env.REDIS_URL);
try {
  const { child: silent } = await startScript('./responder.ts', [sharedDir, String(SILENT), 'silent', NEVER_MS]);
  const { child: other } = await startScript('./responder.ts', [sharedDir, String(OTHER), 'other']);
  const [api, worker] = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  for (let call = 0; call < 500; call++) await callOnce(url, { app: OTHER });
  console.log(`alone: ${tell(await callFor(1000))}`);
  for (let call = 0; call < Number(CROWD); call++) void callOnce(url, { app: SILENT });
  const seconds = Array.from({ length: Number(SECONDS) }, async (_, second) => {
    await sleep(1000 * second);
    return callFor(1000);
  });
  for (const [second, calls] of (await Promise.all(seconds)).entries())
    console.log(`sent in second ${second + 1} beside ${CROWD} that wait: ${tell(calls)}`);
  await stop(api, worker, silent, other);
} finally {
  await tearDown();
}

async function callFor(ms: number): Promise<Outcome[]> {
  const calls: Promise<Outcome>[] = [];
  for (let sent = 0; sent < ms / EVERY_MS; sent++, await sleep(EVERY_MS)) calls.push(callOnce(url, { app: OTHER }));
  return Promise.all(calls);
}

function tell(calls: readonly Outcome[]): string {
  const answered = calls.filter(({ why }) => why === undefined);
  const failed = `${calls.length - answered.length} of ${calls.length} refused`;
  return answered.length === 0 ? failed : `p50 ${median(answered.map(({ ms }) => ms)).toFixed(0)} ms, ${failed}`;
}
