// What the durable embedded store costs beside the one in memory, in one run: one call, a steady load with the longest pause of the
// process, what the folder takes, and a start after kill -9. `node bench/embedded.ts [seconds of load at each rate] [rates]`
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort, kill, startEmbedded, untilReady } from './processes.ts';

const ROOT = join(import.meta.dirname, '..');
const SECONDS = Number(process.argv[2] ?? 30);
const RATES = (process.argv[3] ?? '10,50,100,200').split(',').map(Number);
const KEPT = 10_000;

type Service = { url: string; folder: string; child: ChildProcess; startMs: number };

async function start(store: 'disk' | 'memory', folder: string): Promise<Service> {
  const PORT = String(await freePort());
  const began = performance.now();
  const child = startEmbedded(folder, { PORT, EMBEDDED_STORE: store }, ROOT);
  const url = `http://127.0.0.1:${PORT}`;
  await untilReady(`${url}/readyz`, 60_000, { everyMs: 10 });
  return { url, folder, child, startMs: performance.now() - began };
}

/** One call of the demo's rule; resolves to the milliseconds it took. */
async function call({ url }: Service): Promise<number> {
  const began = performance.now();
  const reply = await fetch(`${url}/rule-server/mock/execute`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"app":9001,"ruleId":1,"the service":{"uid":9007199254740993,"cost":120.10,"city":"Berlin"}}',
  });
  const { success, code, error } = (await reply.json()) as { success: boolean; code?: string; error: string };
  if (!success) throw new Error(`${reply.status} ${code}: ${error}`);
  return performance.now() - began;
}

const at = (sorted: number[], part: number) => sorted[Math.floor(sorted.length * part)] ?? Number.NaN;
const shown = (ms: number) => `${ms.toFixed(1)} ms`;
function summary(times: number[]): string {
  const sorted = times.toSorted((one, other) => one - other);
  return `p50 ${shown(at(sorted, 0.5))}, p99 ${shown(at(sorted, 0.99))}, longest ${shown(sorted.at(-1) ?? 0)}`;
}

async function megabytes(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const sizes = await Promise.all(
    entries
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) =>
        stat(join(parentPath, name)).then(
          ({ blocks }) => blocks * 512,
          () => 0,
        ),
      ),
  );
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1024 / 1024);
}

/** Calls in turn, one after the other, so that whatever else the machine does meets both. */
async function oneCall(services: { memory: Service; disk: Service }): Promise<void> {
  const times = { memory: [] as number[], disk: [] as number[] };
  for (let count = 0; count < 600; count++) {
    for (const name of ['memory', 'disk'] as const) {
      const took = await call(services[name]);
      if (count >= 100) times[name].push(took);
    }
  }
  const p50 = (list: number[]) =>
    at(
      list.toSorted((one, other) => one - other),
      0.5,
    );
  console.log(`one call, memory: ${summary(times.memory)}`);
  console.log(
    `one call, disk:   ${summary(times.disk)} (p50 ${(p50(times.disk) / p50(times.memory)).toFixed(2)} times that of memory)`,
  );
}

/** One sentence for each reason: ids and numbers differ. */
const reasonIn = ({ message }: Error) => message.replaceAll(/[0-9a-f-]{36}/g, '…').replaceAll(/\b\d{4,}\b/g, '…');

/** Calls at a steady rate. The longest pause is what a request to /healthz waits, one every 10 ms. */
async function load(service: Service, rate: number): Promise<void> {
  const times: number[] = [];
  const refused = new Map<string, number>();
  const pauses: number[] = [];
  const until = performance.now() + SECONDS * 1000;
  const open = new Set<Promise<unknown>>();
  const keep = (work: Promise<unknown>) => open.add(work.finally(() => open.delete(work)));
  const pauseLoop = (async () => {
    while (performance.now() < until) {
      const began = performance.now();
      await fetch(`${service.url}/healthz`);
      pauses.push(performance.now() - began);
      await delay(10);
    }
  })();
  for (let next = performance.now(); next < until; next += 1000 / rate) {
    await delay(Math.max(0, next - performance.now()));
    keep(
      call(service).then(
        (took) => times.push(took),
        (error: Error) => refused.set(reasonIn(error), (refused.get(reasonIn(error)) ?? 0) + 1),
      ),
    );
  }
  await Promise.all([pauseLoop, ...open]);
  const folder = await megabytes(join(service.folder, 'rule-data/.rule-server')).catch(() => 0);
  console.log(
    `${rate} calls/s for ${SECONDS} s: ${summary(times)}, ${times.length} answered; /healthz ${summary(pauses)}; ${folder} MB`,
  );
  for (const [reason, count] of refused) console.log(`  ${count} times ${reason}`);
}

const folders = [await mkdtemp(join(tmpdir(), 'embedded-')), await mkdtemp(join(tmpdir(), 'embedded-'))] as const;
const memory = await start('memory', folders[0]);
let disk = await start('disk', folders[1]);
console.log(`start, memory: ${shown(memory.startMs)}; disk, the first one: ${shown(disk.startMs)}`);
try {
  await oneCall({ memory, disk });
  for (const rate of RATES) {
    console.log('memory:');
    await load(memory, rate);
    console.log('disk:');
    await load(disk, rate);
  }
  await kill(memory.child);
  for (let count = 0; count < KEPT / 20; count++) await Promise.all(Array.from({ length: 20 }, () => call(disk)));
  await kill(disk.child);
  disk = await start('disk', folders[1]);
  console.log(`start after kill -9, with ${KEPT} executions kept: ${shown(disk.startMs)}`);
  console.log(`the folder: ${await megabytes(join(folders[1], 'rule-data/.rule-server/store'))} MB`);
} finally {
  await kill(disk.child);
  for (const folder of folders) await rm(folder, { recursive: true, force: true, maxRetries: 5 });
}
