// `node bench/rewrites.ts`: CALLERS make calls for SECONDS while Redis rewrites its append-only file again and again. A busy Redis is not
// away: no call may be refused because the queue is unavailable, and none may end without a known outcome.
//   CALLERS=3000  SECONDS=60  REWRITE_EVERY_MS=1500
import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { load } from './load.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady } from './processes.ts';
import { makeSharedDir, setUp } from './set-up.ts';

const { CALLERS = '3000', SECONDS = '60', REWRITE_EVERY_MS = '1500' } = process.env;

const place = await makeSharedDir();
const port = await freePort();
const server = startRedis(port, ['--dir', place, '--appendonly', 'yes', '--auto-aof-rewrite-min-size', '1mb']);
const { sharedDir, common, url, tearDown } = await setUp(`redis://127.0.0.1:${port}`);
const redis = new Redis(port);
let [rewrites, isOver] = [0, false];
try {
  const { child: client } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const services = (['api', 'worker'] as const).map((role) => startService(role, common));
  await untilReady(`${url}/readyz`);
  const rewriting = rewrite();
  const { calls, failed, p50, p99, why } = await load(url, Number(CALLERS), Number(SECONDS));
  isOver = true;
  await rewriting;
  const answered = `${calls} answered (p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms)`;
  console.log(`${CALLERS} callers, ${rewrites} rewrites in ${SECONDS} s: ${answered}, ${failed} not: ${why || 'none'}`);
  await stop(...services, client);
} finally {
  redis.disconnect();
  await stop(server);
  await tearDown();
  await rm(place, { recursive: true });
}

async function rewrite(): Promise<void> {
  for (; !isOver; await sleep(Number(REWRITE_EVERY_MS)))
    // One that is under way is enough.
    await redis.bgrewriteaof().then(
      () => rewrites++,
      () => {},
    );
}
