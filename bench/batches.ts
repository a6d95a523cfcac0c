// `node bench/batches.ts`: what batches cost those who wait for one call, whether they share fairly, and how fast they are.
import { beginBatch, done, endBatch, isOver, seeBatch, untilBatch } from './batch-calls.ts';
import { load } from './load.ts';
import { median } from './median.ts';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const [PARALLEL, SERIAL, QUICK_SERIAL] = [9001, 2, 3];
const POLL_MS = 2000; // what the published SDKs take unless told otherwise
const QUICK_POLL_MS = 200;
const RUN_MS = 20;
const ITEMS = 10_000;
const CASES = 1000;
const CALLERS = 100;

const { sharedDir, common, url, tearDown } = await setUp();

try {
  const serial = await startScript('./serial-client.ts', [
    sharedDir,
    String(SERIAL),
    'serial',
    String(POLL_MS),
    String(RUN_MS),
  ]);
  const quick = await startScript('./serial-client.ts', [
    sharedDir,
    String(QUICK_SERIAL),
    'quick',
    String(QUICK_POLL_MS),
    String(RUN_MS),
  ]);
  const demo = startService('demo-client', common);
  const api = startService('api', common);
  const worker = startService('worker', common);
  await untilReady(`${url}/readyz`);
  await load(url, 20, 3, { app: PARALLEL }); // warm up
  await besideABatch('the demo client', PARALLEL, SECONDS);
  await besideABatch(`a client that runs serially, polls every ${QUICK_POLL_MS} ms`, QUICK_SERIAL, 5 * SECONDS);
  await besideABatch(`a client that runs serially, polls every ${POLL_MS} ms`, SERIAL, 10 * SECONDS);
  await fairness();
  await throughput();
  await stop(api, worker, demo, serial.child, quick.child);
} finally {
  await tearDown();
}

/** One caller, alone and beside a batch, in turns: what the machine does meanwhile hits both. */
async function besideABatch(name: string, app: number, seconds: number): Promise<void> {
  const [alone, beside] = [[] as number[], [] as number[]];
  let [ran, took] = [0, 0];
  const failures: string[] = [];
  for (let round = 0; round < (app === PARALLEL ? ROUNDS : 1); round++) {
    const before = await load(url, 1, seconds, { app });
    alone.push(before.p50);
    const batch = await beginBatch(url, { app, count: ITEMS });
    await untilBatch(batch, (seen) => done(seen) > 3);
    const [first, startedAt] = [await seeBatch(batch), performance.now()];
    const during = await load(url, 1, seconds, { app });
    ran += done(await seeBatch(batch)) - done(first);
    took += performance.now() - startedAt;
    beside.push(during.p50);
    for (const [when, { failed, why }] of Object.entries({ alone: before, beside: during }))
      if (failed > 0) failures.push(`${when}: ${why}`);
    await endBatch(batch);
  }
  const times = median(alone.map((ms, round) => (beside[round] ?? Number.NaN) / ms));
  console.log(
    `\none call at ${name}: p50 ${median(alone).toFixed(1)} ms alone, ${median(beside).toFixed(1)} ms beside a batch of ${ITEMS}: ${times.toFixed(2)} ×`,
  );
  console.log(
    `  meanwhile ${((ran / took) * 1000).toFixed(1)} cases/s ran; ${failures.length === 0 ? 'no call failed' : `calls failed, ${failures.join('; ')}`}`,
  );
}

/** Two batches that begin together at one client: how much of the second is done when the first is over. */
async function fairness(): Promise<void> {
  const size = { app: PARALLEL, count: CASES };
  const batches = await Promise.all([beginBatch(url, size), beginBatch(url, size)]);
  const halves = await Promise.any(batches.map((batch) => untilBatch(batch, (seen) => done(seen) >= CASES / 2))).then(
    () => Promise.all(batches.map(async (batch) => done(await seeBatch(batch)))),
  );
  console.log(`\ntwo batches of ${CASES} at one client, when one is half done: ${halves.join(' and ')}`);
  for (const batch of batches) await untilBatch(batch, isOver);
  // A small one that begins later is served in turns with a large one.
  const large = await beginBatch(url, { app: PARALLEL, count: ITEMS });
  await untilBatch(large, (seen) => done(seen) > 50);
  const before = await seeBatch(large);
  const small = await untilBatch(await beginBatch(url, { app: PARALLEL, count: 200 }), isOver);
  const after = await seeBatch(large);
  await endBatch(large);
  console.log(
    `a batch of 200 beside a large one: ${done(small)} of its cases ran while ${done(after) - done(before)} of the other did`,
  );
}

/** Cases a second of a batch, beside the calls a second of as many plain callers, in turns. */
async function throughput(): Promise<void> {
  const shares: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const plain = await load(url, CALLERS, SECONDS, { app: PARALLEL });
    const batch = await untilBatch(
      await beginBatch(url, { app: PARALLEL, count: CASES, concurrency: CALLERS }),
      isOver,
    );
    const perSecond = (CASES / ((batch.endedAt ?? Number.NaN) - batch.createdAt)) * 1000;
    shares.push(perSecond / plain.perSecond);
    if (plain.failed > 0) console.log(`calls failed, ${plain.why}`);
    console.log(
      `\n${CALLERS} callers: ${plain.perSecond.toFixed(0)} calls/s; a batch of ${CASES}, ${CALLERS} at once: ${perSecond.toFixed(0)} cases/s, ${batch.counts.passed} passed`,
    );
  }
  console.log(`the batch makes ${(median(shares) * 100).toFixed(0)} % of the plain callers' calls a second`);
}
