// `node bench/flush.ts`: what FSYNC=1 costs a call, as a ratio in one run. Both deployments take turns, so that a busy machine slows
// both. BENCH_DIR: where the files lie; it must be on a disk, because a flush in memory costs nothing.
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { failuresOf } from './failures.ts';
import { type Load, load } from './load.ts';
import { median } from './median.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const CALLERS = [1, 50];
const FLUSHES = 200;

const place = process.env.BENCH_DIR ?? tmpdir();
const redisPort = await freePort();
const redis = startRedis(redisPort);

try {
  console.log(`one flush of a file of 1 KiB: ${(await oneFlush()).toFixed(2)} ms (median of ${FLUSHES})`);
  const [without, withFlush] = [await deployment(0), await deployment(1)];
  for (const callers of CALLERS) {
    const rounds: { without: Load; withFlush: Load }[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      rounds.push({
        without: await load(without.url, callers, SECONDS),
        withFlush: await load(withFlush.url, callers, SECONDS),
      });
    }
    report(callers, rounds);
  }
  await Promise.all([without.end(), withFlush.end()]);
} finally {
  await stop(redis);
}

async function deployment(FSYNC: 0 | 1) {
  const sharedDir = await makeSharedDir(place);
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const PORT = String(await freePort());
  const REDIS_URL = `redis://127.0.0.1:${redisPort}/${FSYNC}`;
  const environment = { REDIS_URL, SHARED_DIR: sharedDir, PORT, FSYNC: String(FSYNC) };
  const processes = [startService('api', environment), startService('worker', environment)];
  const url = `http://127.0.0.1:${PORT}`;
  await untilReady(`${url}/readyz`);
  await load(url, 50, 2); // warm up
  const end = async () => {
    await stop(...processes, responder);
    await rm(sharedDir, { recursive: true, force: true });
  };
  return { url, end };
}

async function oneFlush(): Promise<number> {
  const folder = await mkdtemp(join(place, 'rule-server-bench-'));
  const times: number[] = [];
  for (let number = 0; number < FLUSHES; number++) {
    const file = await open(join(folder, String(number)), 'w');
    await file.writeFile('x'.repeat(1024));
    const startedAt = performance.now();
    await file.sync();
    times.push(performance.now() - startedAt);
    await file.close();
  }
  await rm(folder, { recursive: true });
  return median(times);
}

function report(callers: number, rounds: { without: Load; withFlush: Load }[]): void {
  const { latency, rate } = {
    latency: median(rounds.map(({ without, withFlush }) => withFlush.p50 / without.p50)),
    rate: median(rounds.map(({ without, withFlush }) => withFlush.perSecond / without.perSecond)),
  };
  const of = (pick: (load: Load) => number) =>
    (['without', 'withFlush'] as const).map((which) => median(rounds.map((round) => pick(round[which]))));
  const [p50Without = 0, p50With = 0] = of(({ p50 }) => p50);
  const [rateWithout = 0, rateWith = 0] = of(({ perSecond }) => perSecond);
  const failed = failuresOf(rounds.flatMap(({ without, withFlush }) => [without, withFlush]));
  console.log(`${callers} callers, median of ${rounds.length} rounds, without FSYNC and with it:
  p50      ${p50Without.toFixed(1)} ms, ${p50With.toFixed(1)} ms: ${latency.toFixed(2)} ×
  calls/s  ${rateWithout.toFixed(0)}, ${rateWith.toFixed(0)}: ${rate.toFixed(2)} ×
  failed   ${failed}`);
}
