// `node bench/replies.ts`: how an API may hear that a job ended, on the queue alone: the event stream that every API reads, a
// Relay, and sharded pub/sub. One at a time with one API, and 100 at once with eight APIs of which seven are not called.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { costsOf } from './costs.ts';
import { freePort, startRedis, startScript, stop } from './processes.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 4);
const APIS = 8;

type Measured = { calls: number; p50: number };

console.log('                 alone p50    calls/s   8 APIs: calls/s   µs: called, each other, worker, Redis');
for (const mechanism of ['stream', 'relay', 'pubsub']) await measure(mechanism);

async function measure(mechanism: string): Promise<void> {
  const port = await freePort();
  const redis = startRedis(port);
  const url = `redis://127.0.0.1:${port}`;
  const start = async (role: string) => (await startScript('./reply-part.ts', [mechanism, role, url])).child;
  const worker = await start('worker');
  const called = await start('api');
  await order(called, 20, SECONDS / 2);
  const alone = await order(called, 1, SECONDS);
  const others = await Promise.all(Array.from({ length: APIS - 1 }, () => start('api')));
  const idle = Object.fromEntries(others.map((child, at) => [`other${at}`, child]));
  const costs = await costsOf({ called, worker, redis, ...idle }, url, async () => {
    return (await order(called, 100, SECONDS)).calls;
  });
  const { called: busy = 0, worker: work = 0, redis: store = 0, ...rest } = costs.cpu;
  const each = Object.values(rest).reduce((sum, us) => sum + us, 0) / others.length;
  console.log(
    `  ${mechanism.padEnd(14)} ${alone.p50.toFixed(2).padStart(6)} ms ${(alone.calls / SECONDS).toFixed(0).padStart(10)}` +
      ` ${(costs.calls / SECONDS).toFixed(0).padStart(17)}   ${[busy, each, work, store].map((us) => us.toFixed(0)).join(', ')}`,
  );
  for (const child of [called, worker, ...others]) child.kill('SIGKILL');
  await stop(redis);
}

async function order(api: ChildProcess, callers: number, seconds: number): Promise<Measured> {
  api.send({ callers, seconds });
  const [measured] = await once(api, 'message');
  return measured;
}
