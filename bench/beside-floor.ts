// `node bench/beside-floor.ts`: how long a call takes and how many a second there are, beside a floor measured in the same run on the
// same machine and client. Needs Linux and a redis-server on PATH (or REDIS_URL); starts everything else itself. BENCH_DIR: where the files lie.
import { tellFailures, tellMeasured } from './findings.ts';
import { type Load, load } from './load.ts';
import { startScript, startService, stop, untilReady } from './processes.ts';
import { setUp } from './set-up.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);

const { sharedDir, common: own, url, tearDown } = await setUp(process.env.REDIS_URL);

try {
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const floor = await measureFloor();
  const ours = await measureOurs();
  await stop(responder);
  report(floor, ours);
} finally {
  await tearDown();
}

type Measured = { one: Load; hundred: Load; thousand: Load };

async function measure(url: string): Promise<Measured> {
  tellFailures('beside the floor, warming up', await load(url, 50, 2));
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

async function measureOurs(): Promise<Measured> {
  const common = { ...own, MAX_WAITS_PER_CLIENT: '5000' };
  const [api, worker] = [startService('api', common), startService('worker', common)];
  await untilReady(`${url}/readyz`);
  const measured = await measure(url);
  await stop(api, worker);
  return measured;
}

function report(floor: Measured, ours: Measured): void {
  console.log('                              p50 ms   p99 ms   calls/s');
  for (const [name, key] of [
    ['one at a time', 'one'],
    ['100 callers', 'hundred'],
    ['1,000 callers', 'thousand'],
  ] as const) {
    row(`${name}: floor`, floor[key]);
    row(`${name}: rule server`, ours[key]);
  }
  const [one, thousand] = [ours.one.p50 / floor.one.p50, ours.thousand.perSecond / floor.thousand.perSecond];
  console.log(`\nOne at a time: ${one.toFixed(1)} × the floor's p50.`);
  console.log(`1,000 callers: ${(thousand * 100).toFixed(0)} % of the floor's throughput.`);
  tellMeasured('floorOne', one, `${ours.one.p50.toFixed(1)} ms`);
  tellMeasured('floorThousand', thousand * 100, `${ours.thousand.perSecond.toFixed(0)}/s; the aim is 35 %`);
}

function row(name: string, load: Load): void {
  const columns = [
    load.p50.toFixed(1).padStart(8),
    load.p99.toFixed(1).padStart(8),
    load.perSecond.toFixed(0).padStart(9),
    `   ${tellFailures(name, load)}`,
  ];
  console.log(`${name.padEnd(27)} ${columns.join(' ')}`);
}
