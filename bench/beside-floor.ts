// `npm run bench`: what a call costs, beside a floor measured in the same run on the same machine and client.
// Needs Linux and a redis-server on PATH (or REDIS_URL); starts everything else itself. BENCH_DIR: where the files lie.
import { type Load, load } from './load.ts';
import { freePort, startScript, startService, stop, untilReady, usage } from './processes.ts';
import { setUp } from './set-up.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const OPEN_WAITS = 2000;
const WAIT_MS = 5000;

const { sharedDir, REDIS_URL, tearDown } = await setUp(process.env.REDIS_URL);

try {
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const floor = await measureFloor();
  const ours = await measureOurs();
  await stop(responder);
  report(floor, ours);
  await measureOpenWaits();
} finally {
  await tearDown();
}

type Measured = { one: Load; hundred: Load; thousand: Load };

async function measure(url: string): Promise<Measured> {
  await load(url, 50, 2); // warm up
  const one = await load(url, 1, SECONDS);
  const hundred = await load(url, 100, SECONDS);
  const thousand = await load(url, 1000, SECONDS);
  return { one, hundred, thousand };
}

async function measureFloor(): Promise<Measured> {
  const { child, message: port } = await startScript('./floor.ts', [sharedDir, '1', 'bench']);
  const measured = await measure(`http://127.0.0.1:${port}`);
  child.kill('SIGKILL');
  return measured;
}

async function startOurs(environment: Record<string, string> = {}) {
  const PORT = String(await freePort());
  const common = { REDIS_URL, SHARED_DIR: sharedDir, PORT, MAX_WAITS_PER_CLIENT: '5000', ...environment };
  const api = startService('api', common);
  const worker = startService('worker', common);
  const url = `http://127.0.0.1:${PORT}`;
  await untilReady(`${url}/readyz`);
  return { api, worker, url };
}

async function measureOurs(): Promise<Measured> {
  const { api, worker, url } = await startOurs();
  const measured = await measure(url);
  await stop(api, worker);
  return measured;
}

async function measureOpenWaits(): Promise<void> {
  const { child: slow } = await startScript('./responder.ts', [sharedDir, '2', 'slow', String(WAIT_MS)]);
  const { api, worker, url } = await startOurs();
  const call = () =>
    fetch(`${url}/rule-server/mock/execute`, { method: 'POST', body: JSON.stringify({ app: 2, ruleId: 1 }) }).then(
      async (response) => {
        await response.arrayBuffer();
        return response.status;
      },
    );
  await call();
  const calls = Array.from({ length: OPEN_WAITS }, call);
  await new Promise((resolve) => setTimeout(resolve, WAIT_MS * 0.6)); // all of them are open, none has ended
  const before = { api: usage(api), worker: usage(worker) };
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const after = { api: usage(api), worker: usage(worker) };
  const statuses = await Promise.all(calls);
  console.log(
    `\n${OPEN_WAITS} waits of ${WAIT_MS} ms open at once: ${statuses.filter((status) => status === 200).length} answered`,
  );
  for (const name of ['api', 'worker'] as const) {
    const cpu = (after[name].cpuSeconds - before[name].cpuSeconds) * 100;
    console.log(
      `  ${name.padEnd(7)} ${after[name].megabytes.toFixed(0).padStart(5)} MB   ${cpu.toFixed(0).padStart(3)} % of a core while waiting`,
    );
  }
  await stop(api, worker, slow);
}

function report(floor: Measured, ours: Measured): void {
  console.log('                              p50 ms   p99 ms   calls/s   failed');
  for (const [name, key] of [
    ['one at a time', 'one'],
    ['100 callers', 'hundred'],
    ['1,000 callers', 'thousand'],
  ] as const) {
    row(`${name}: floor`, floor[key]);
    row(`${name}: rule server`, ours[key]);
  }
  console.log(`\nOne at a time: ${(ours.one.p50 / floor.one.p50).toFixed(1)} × the floor's p50.`);
  console.log(
    `1,000 callers: ${((ours.thousand.perSecond / floor.thousand.perSecond) * 100).toFixed(0)} % of the floor's throughput.`,
  );
}

function row(name: string, { p50, p99, perSecond, failed }: Load): void {
  const columns = [
    p50.toFixed(1).padStart(8),
    p99.toFixed(1).padStart(8),
    perSecond.toFixed(0).padStart(9),
    String(failed).padStart(8),
  ];
  console.log(`${name.padEnd(27)} ${columns.join(' ')}`);
}
