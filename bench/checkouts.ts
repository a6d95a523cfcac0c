// `node bench/checkouts.ts <checkout> <checkout> …`: what a call costs in several checkouts (each with its node_modules). All of them
// are up at once and get their calls in turn, there and back again, so that the machine is as busy for each. Beside it: the cost by that of
// the first checkout in the same turn, the median and both quartiles. Name one checkout twice to see the noise. Needs Linux, redis-server.
import { basename } from 'node:path';
import { usedBy } from './costs.ts';
import { startAnswered } from './deployment.ts';
import { failuresOf } from './failures.ts';
import { type Load, load } from './load.ts';
import { median } from './median.ts';

const CALLERS = Number(process.env.BENCH_CALLERS ?? 100);
const TURNS = Number(process.env.BENCH_TURNS ?? 8);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
/** Until the compiler has seen the code often enough. */
const WARM_UP_SECONDS = 4;

type Turn = { measured: Load; cpu: Record<string, number> };

const deployments = [];
for (const checkout of process.argv.slice(2)) deployments.push(await deploy(checkout));
for (let turn = 0; turn < TURNS; turn++)
  for (const deployment of turn % 2 ? deployments.toReversed() : deployments) await measure(deployment);
console.log(`${CALLERS} callers, medians of ${TURNS} turns of ${SECONDS} s: µs of CPU a call`);
for (const { checkout, turns } of deployments) report(checkout, turns, deployments[0]?.turns ?? turns);
for (const { tearDown } of deployments) await tearDown();

async function deploy(checkout: string) {
  const deployment = await startAnswered(checkout);
  await load(deployment.url, CALLERS, WARM_UP_SECONDS);
  return { ...deployment, checkout, turns: [] as Turn[] };
}

async function measure({ url, processes, turns }: Awaited<ReturnType<typeof deploy>>): Promise<void> {
  const before = usedBy(processes);
  const measured = await load(url, CALLERS, SECONDS);
  const after = Object.entries(usedBy(processes));
  const cpu = Object.fromEntries(after.map(([name, us]) => [name, (us - (before[name] ?? 0)) / measured.calls]));
  turns.push({ measured, cpu });
}

function sumOf({ cpu }: Turn): number {
  return Object.values(cpu).reduce((all, us) => all + us, 0);
}

function report(checkout: string, turns: readonly Turn[], first: readonly Turn[]): void {
  const middle = (of: (turn: Turn) => number) => median(turns.map(of)).toFixed(0);
  const names = Object.keys(turns[0]?.cpu ?? {});
  const each = names.map((name) => `${name} ${middle(({ cpu }) => cpu[name] ?? Number.NaN)}`);
  const sum = middle(sumOf);
  const ratios = turns
    .flatMap((turn, n) => first.slice(n, n + 1).map((other) => sumOf(turn) / sumOf(other)))
    .sort((a, b) => a - b);
  const [low, high] = [ratios[Math.floor(ratios.length / 4)], ratios[Math.floor((ratios.length * 3) / 4)]];
  const besideFirst = `${median(ratios).toFixed(3)} times the first (${low?.toFixed(3)} to ${high?.toFixed(3)})`;
  const perSecond = middle(({ measured }) => measured.perSecond);
  const failures = failuresOf(turns.map(({ measured }) => measured));
  console.log(
    `  ${basename(checkout).padEnd(16)} ${sum.padStart(5)}   (${each.join(', ')})   ${perSecond} calls/s, failed: ${failures}; ${besideFirst}`,
  );
}
