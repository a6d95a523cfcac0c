// `node bench/stores-beside.ts [checkout]`: the whole service on each of its stores, in turns: Redis, memory, a folder, a folder whose flush
// takes 5 ms more, and the folder of another checkout (with its node_modules) if one is named. Service and client are two processes, the
// callers a third; all share the machine. A disk is measured, so the folders lie in the system's temporary one.
//   BENCH_TURNS=5  BENCH_SECONDS=3  CALLERS=1,16,100  BATCH=10000 (0: none)
import type { ChildProcess } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beginBatch, isOver, untilBatch } from './batch-calls.ts';
import { failuresOf } from './failures.ts';
import { load } from './load.ts';
import { median } from './median.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady, usage } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

const TURNS = Number(process.env.BENCH_TURNS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const CALLERS = (process.env.CALLERS ?? '1,16,100').split(',').map(Number);
const BATCH = Number(process.env.BATCH ?? 10_000);
const WARM_UP_SECONDS = 4;
const DEMO_APP = 9001;
const HERE = join(import.meta.dirname, '..');

type Figures = { p50: number[]; perSecond: number[]; cpuMs: number[]; healthMs: number[] };
type Measured = {
  name: string;
  url: string;
  sharedDir: string;
  service: ChildProcess;
  readyMs: number;
  rows: Map<number, Figures>;
  end: () => Promise<void>;
};

const other = process.argv[2];
const kinds: [string, Record<string, string>, string][] = [
  ['Redis', { REDIS_URL: 'started here' }, HERE],
  ['memory', { EMBEDDED_STORE: 'memory' }, HERE],
  ['folder', { EMBEDDED_STORE: 'disk' }, HERE],
  [
    'folder, flush + 5 ms',
    { EMBEDDED_STORE: 'disk', NODE_OPTIONS: `--import ${join(HERE, 'bench/slow-flush.ts')}` },
    HERE,
  ],
];
if (other) kinds.push([`folder, ${other}`, { EMBEDDED_STORE: 'disk' }, other]);

const all: Measured[] = [];
for (const [name, settings, checkout] of kinds) all.push(await begin(name, settings, checkout));
for (let turn = 0; turn < TURNS; turn++)
  for (const callers of CALLERS) for (const each of turn % 2 ? all.toReversed() : all) await measure(each, callers);
report();
if (BATCH > 0) for (const each of all) console.log(`a batch of ${BATCH}, ${each.name}: ${await batchSeconds(each)}`);
for (const { end } of all) await end();

async function begin(name: string, settings: Record<string, string>, checkout: string): Promise<Measured> {
  const sharedDir = await makeSharedDir(tmpdir());
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const redisPort = await freePort();
  const redis = 'REDIS_URL' in settings ? startRedis(redisPort) : undefined;
  const PORT = String(await freePort());
  const own = redis ? { REDIS_URL: `redis://127.0.0.1:${redisPort}` } : settings;
  const began = performance.now();
  const service = startService('all', { SHARED_DIR: sharedDir, PORT, ...own }, checkout);
  const url = `http://127.0.0.1:${PORT}`;
  await untilReady(`${url}/readyz`);
  const readyMs = performance.now() - began;
  await load(url, Math.max(...CALLERS), WARM_UP_SECONDS);
  const end = async () => {
    await stop(service, responder, ...(redis ? [redis] : []));
    await rm(sharedDir, { recursive: true, force: true });
  };
  return { name, url, sharedDir, service, readyMs, rows: new Map(), end };
}

async function measure({ name, url, service, rows }: Measured, callers: number): Promise<void> {
  const figures = rows.get(callers) ?? { p50: [], perSecond: [], cpuMs: [], healthMs: [] };
  rows.set(callers, figures);
  const before = usage(service).cpuSeconds;
  const [loaded, healthMs] = await Promise.all([load(url, callers, SECONDS), healthOf(url)]);
  figures.p50.push(loaded.p50);
  figures.perSecond.push(loaded.perSecond);
  figures.cpuMs.push((1000 * (usage(service).cpuSeconds - before)) / loaded.calls);
  figures.healthMs.push(healthMs);
  if (loaded.failed > 0) console.log(`${name}, ${callers} callers: ${failuresOf([loaded])}`);
}

/** The slowest but one in a hundred of the requests to /healthz during one measurement, in ms. */
async function healthOf(url: string): Promise<number> {
  const times: number[] = [];
  for (const until = performance.now() + SECONDS * 1000; performance.now() < until; await delay(20)) {
    const began = performance.now();
    await fetch(`${url}/healthz`);
    times.push(performance.now() - began);
  }
  return times.toSorted((one, next) => one - next)[Math.floor(times.length * 0.99)] ?? Number.NaN;
}

function report(): void {
  for (const { name, readyMs, service, rows } of all) {
    console.log(
      `\n${name}: ready after ${(readyMs / 1000).toFixed(1)} s, ${usage(service).megabytes.toFixed(0)} MB after the load`,
    );
    for (const [callers, { p50, perSecond, cpuMs, healthMs }] of rows)
      console.log(
        `  ${callers} callers: p50 ${median(p50).toFixed(1)} ms, ${median(perSecond).toFixed(0)} calls/s, ` +
          `${median(cpuMs).toFixed(2)} ms of the processor a call, /healthz p99 ${median(healthMs).toFixed(0)} ms`,
      );
  }
  console.log('');
}

/** The batch goes to the demo client, in a process of its own: clients of the Node SDK get many items at once. */
async function batchSeconds({ url, sharedDir }: Measured): Promise<string> {
  const client = startService('demo-client', { SHARED_DIR: sharedDir });
  const isOnline = async () =>
    (await (await fetch(`${url}/rule-server/mock/clients?app=${DEMO_APP}`)).text()).includes('"state":"online"');
  while (!(await isOnline())) await delay(100);
  const location = await beginBatch(url, { app: DEMO_APP, count: BATCH, concurrency: 16 });
  const { createdAt, endedAt, counts } = await untilBatch(location, isOver, 600_000);
  await stop(client);
  const seconds = ((endedAt ?? Number.NaN) - createdAt) / 1000;
  return `${seconds.toFixed(0)} s${counts.passed === BATCH ? '' : `, ${JSON.stringify(counts)}`}`;
}
