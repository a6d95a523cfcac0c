// `node bench/overload.ts`: goodput beyond capacity. The service, its Redis and its client have one core, the callers the other. What it
// can do is found first; then 0.5 to 10 times as many calls are offered, whatever becomes of them. Good is an answer of the client within
// 5 s; it is counted after the first 5 s of a load, when a queue puts nothing off any more. A row is void if its callers could not make
// their calls in time. BATCH=2000 offers each load a second time, beside a batch of so many cases. SOCKETS must stay below the connections that an API takes (14,000). Linux, taskset, two cores, redis-server.
//   STORE=redis|embedded|both  BATCH=0  APIS=1  FACTORS=0.5,0.8,1,2,5,10  BENCH_SECONDS=15  SOCKETS=13000  SERVICE_CORE=0  CALLER_CORE=1
import { type ChildProcess, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { load } from './load.ts';
import { median } from './median.ts';
import { beginBatch } from './overload-batch.ts';
import { GOOD_WITHIN_MS, type Offered, toldSchema } from './overload-told.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady, usage } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

const { STORE = 'both', APIS = '1', FACTORS = '0.5,0.8,1,2,5,10', SOCKETS = '13000', BATCH = '0' } = process.env;
const { SERVICE_CORE = '0', CALLER_CORE = '1', BENCH_SECONDS = '15' } = process.env;
const SECONDS = Number(BENCH_SECONDS);
const factors = FACTORS.split(',').map(Number);
const STEADY_SECONDS = SECONDS - GOOD_WITHIN_MS / 1000;
const WARM_SECONDS = 8;
const TURN_SECONDS = 4;
const ROUNDS = 3;
const SENT_AT_LEAST = 0.98;
const LATE_MS = 50;
/** It is back once so many calls in a row are answered within this time. */
const BACK = { calls: 5, everyMs: 100, withinMs: 250, givenUpAfterMs: 30_000 };
const FEW_REFUSALS = 100;

type Store = 'redis' | 'embedded';
type Service = { urls: string[]; apis: ChildProcess[]; others: ChildProcess[]; sharedDir: string };
type Row = Offered & {
  factor: number;
  perSecond: number;
  apiSeconds: number;
  allSeconds: number;
  backMs: number | null;
  /** How many items of a batch ran beside it; null without one. */
  items: number | null;
};

if (STEADY_SECONDS <= 0) throw new Error('BENCH_SECONDS must be more than 5: good answers are counted after that.');
if (availableParallelism() < 2) throw new Error('This needs two cores: one for the service, one for its callers.');
pin(process.pid, CALLER_CORE);
for (const store of ['redis', 'embedded'] as const) if (STORE === 'both' || STORE === store) await measure(store);

async function measure(store: Store): Promise<void> {
  const service = await start(store);
  const { urls, apis, others, sharedDir } = service;
  const { child: callers } = await startScript('./overload-calls.ts', [urls.join(), SOCKETS]);
  try {
    pin(callers.pid, CALLER_CORE);
    for (const { pid } of [...apis, ...others]) pin(pid, SERVICE_CORE);
    const capacity = await findCapacity(store, urls);
    const rows: Row[] = [];
    for (const factor of factors)
      for (const batch of new Set([0, Number(BATCH)]))
        rows.push(await offer(service, callers, { factor, perSecond: factor * capacity, batch }));
    report(store, capacity, rows);
  } finally {
    await stop(callers, ...apis, ...others);
    await rm(sharedDir, { recursive: true, force: true });
  }
}

async function start(store: Store): Promise<Service> {
  const sharedDir = await makeSharedDir();
  const { child: client } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const common = { SHARED_DIR: sharedDir, MAX_WAITS_PER_CLIENT: '5000' };
  const ports = await Promise.all(Array.from({ length: store === 'redis' ? Number(APIS) : 1 }, freePort));
  const urls = ports.map((port) => `http://127.0.0.1:${port}`);
  const service = store === 'redis' ? await onRedis(ports, common) : allInOne(ports, common);
  await Promise.all(urls.map((url) => untilReady(`${url}/readyz`, 60_000)));
  return { urls, sharedDir, apis: service.apis, others: [client, ...service.others] };
}

async function onRedis(ports: readonly number[], settings: Record<string, string>) {
  const port = await freePort();
  const redis = startRedis(port);
  const common = { ...settings, REDIS_URL: `redis://127.0.0.1:${port}` };
  const apis = ports.map((own) => startService('api', { ...common, PORT: String(own) }));
  return { apis, others: [startService('worker', common), redis] };
}

function allInOne(ports: readonly number[], settings: Record<string, string>) {
  const apis = ports.map((port) => startService('all', { ...settings, PORT: String(port), EMBEDDED_STORE: 'disk' }));
  return { apis, others: [] };
}

/** All threads of a process, and those it starts later. */
function pin(pid: number | undefined, core: string): void {
  execFileSync('taskset', ['-a', '-c', '-p', core, String(pid)], { stdio: 'ignore' });
}

/** Calls a second that callers make who wait for their answers: the median of some turns, after the compiler has seen the code. */
async function findCapacity(store: Store, urls: readonly string[]): Promise<number> {
  const callers = Math.ceil((store === 'redis' ? 100 : 30) / urls.length);
  const turn = async (seconds: number) => {
    const loads = await Promise.all(urls.map((url) => load(url, callers, seconds)));
    return loads.reduce((sum, { perSecond }) => sum + perSecond, 0);
  };
  await turn(WARM_SECONDS);
  const rates: number[] = [];
  for (let round = 0; round < ROUNDS; round++) rates.push(await turn(TURN_SECONDS));
  return median(rates);
}

/** `batch`: how many cases the batch has that runs beside it; 0: there is none. */
type Load = { factor: number; perSecond: number; batch: number };

async function offer(
  { urls, apis, others }: Service,
  callers: ChildProcess,
  { factor, perSecond, batch: cases }: Load,
): Promise<Row> {
  const used = (some: ChildProcess[]) => some.reduce((sum, each) => sum + usage(each).cpuSeconds, 0);
  const batch = cases === 0 ? undefined : await beginBatch(urls[0] ?? '', cases);
  const before = [used(apis), used(others)] as const;
  const sent = once(callers, 'message');
  callers.send({ perSecond, seconds: SECONDS });
  await sent;
  const items = (await batch?.end()) ?? null;
  const endedAt = performance.now();
  const answered = once(callers, 'message');
  const back = untilBack(urls[0] ?? '', endedAt);
  const told = toldSchema.parse((await answered)[0]);
  if (told.kind !== 'answered') throw new Error('the callers told the same twice');
  const apiSeconds = used(apis) - before[0];
  const allSeconds = apiSeconds + used(others) - before[1];
  const backMs = await back;
  await delay(1000);
  return { ...told, factor, perSecond, apiSeconds, allSeconds, backMs, items };
}

/** When the first of some calls in a row was made that are all answered soon, in ms after `since`; null if that takes too long. */
async function untilBack(url: string, since: number): Promise<number | null> {
  const results: { at: number; soon: Promise<boolean> }[] = [];
  const call = async () => {
    const startedAt = performance.now();
    const { ok } = await callOnce(url);
    return ok && performance.now() - startedAt <= BACK.withinMs;
  };
  while (performance.now() - since < BACK.givenUpAfterMs) {
    results.push({ at: performance.now() - since, soon: call().catch(() => false) });
    await delay(BACK.everyMs);
    const last = results.slice(-2 * BACK.calls, -BACK.calls);
    if (last.length < BACK.calls) continue;
    const soon = await Promise.all(last.map((each) => Promise.race([each.soon, delay(0, false)])));
    if (soon.every(Boolean)) return last[0]?.at ?? null;
  }
  return null;
}

async function callOnce(url: string): Promise<{ ok: boolean }> {
  const body = '{"app":1,"ruleId":1,"the service":{"uid":1,"cost":120}}';
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(`${url}/rule-server/mock/execute`, { method: 'POST', headers, body });
  await answer.arrayBuffer();
  return answer;
}

/** Why a row says nothing about the service; undefined if it does. */
function whyVoid({ sent, noSocket, perSecond, latestMs }: Row): string | undefined {
  const share = sent / (Math.floor(perSecond * SECONDS) || 1);
  if (share < SENT_AT_LEAST) return `VOID: ${shown(100 * share)} % sent, ${noSocket} found no free socket`;
  return latestMs > LATE_MS ? `VOID: the callers were ${shown(latestMs)} ms late` : undefined;
}

function report(store: Store, capacity: number, rows: readonly Row[]): void {
  const valid = rows.filter((row) => !whyVoid(row));
  const peak = Math.max(...valid.map(({ goodSteadily }) => goodSteadily));
  const calm = valid.find(({ endings, items }) => total(endings) === 0 && items === null);
  const apis = store === 'redis' ? `${APIS} API, 1 worker, Redis` : 'all in one process, embedded store on disk';
  console.log(
    `\n${apis}, on core ${SERVICE_CORE}: capacity ${capacity.toFixed(0)} calls/s; ${SECONDS} s a row; good: 200 within 5 s`,
  );
  const head = [
    'times',
    'offered/s',
    'good/s',
    'of peak',
    'late',
    'refused or failed',
    'p50',
    'p99',
    'refused p50',
    'back',
    ...(BATCH === '0' ? [] : ['items of the batch']),
  ];
  const lines = rows.map((row) => lineOf(row, { peak, calm }));
  for (const line of [[...head, 'µs a refusal', 'ceiling', 'callers µs', ''], ...lines])
    console.log(`| ${line.join(' | ')} |`);
  for (const { factor, endings, retryAfter } of rows) {
    if (total(endings) === 0) continue;
    console.log(`  ${factor} times: ${listed(endings)}; Retry-After: ${listed(retryAfter)}`);
  }
}

function lineOf(row: Row, { peak, calm }: { peak: number; calm: Row | undefined }): string[] {
  const { factor, perSecond, goodSteadily, tooLate, endings, p50, p99, refusedP50, backMs, cpuSeconds, sent, items } =
    row;
  const refusal = calm && !whyVoid(row) ? costOfRefusal(row, calm) : undefined;
  const share = refusal === undefined || !calm ? undefined : refusal / servedMicros(calm);
  return [
    ...[
      String(factor),
      shown(perSecond),
      shown(goodSteadily / STEADY_SECONDS),
      whyVoid(row) ? '-' : `${shown((100 * goodSteadily) / peak)} %`,
    ],
    ...[String(tooLate), String(total(endings)), `${shown(p50)} ms`, `${shown(p99)} ms`, `${shown(refusedP50)} ms`],
    ...[backMs === null ? `not in ${BACK.givenUpAfterMs / 1000} s` : `${shown(backMs)} ms`],
    ...(BATCH === '0' ? [] : [shown(items)]),
    refusal === undefined || share === undefined ? '-' : `${shown(refusal)} (${(100 * share).toFixed(1)} %)`,
    share === undefined ? '-' : `${shown(100 * Math.max(0, Math.min(1, (1 - factor * share) / (1 - share))))} %`,
    shown((1e6 * cpuSeconds) / sent),
    whyVoid(row) ?? '',
  ];
}

/** CPU of a served call, in all processes that share the core. */
function servedMicros({ allSeconds, good, tooLate }: Row): number {
  return (1e6 * allSeconds) / (good + tooLate);
}

/** CPU of the APIs for each call that was not served, once those that were have cost as much as in a row without refusals. */
function costOfRefusal({ apiSeconds, good, tooLate, endings }: Row, calm: Row): number | undefined {
  const refused = total(Object.fromEntries(Object.entries(endings).filter(([told]) => told.startsWith('503'))));
  if (refused < FEW_REFUSALS) return undefined;
  const served = (calm.apiSeconds / (calm.good + calm.tooLate)) * (good + tooLate);
  return apiSeconds > served ? (1e6 * (apiSeconds - served)) / refused : undefined;
}

function total(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}

function listed(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([what, count]) => `${count} × ${what}`);
  return parts.join(', ');
}

function shown(value: number | null): string {
  return value === null ? '-' : value.toFixed(0);
}
