// `node bench/checkouts.ts <checkout> <checkout> …`: what a call costs in several checkouts (each with its node_modules). All of them
// are up at once and get their calls in turn, again and again, so that the machine is as busy for each. Needs Linux and redis-server.
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { startDeployment } from './deployment.ts';
import { load } from './load.ts';
import { median } from './median.ts';
import { benchPlace, startScript, stop, usage } from './processes.ts';

const CALLERS = Number(process.env.BENCH_CALLERS ?? 100);
const TURNS = Number(process.env.BENCH_TURNS ?? 8);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 2);
/** Until the compiler has seen the code often enough. */
const WARM_UP_SECONDS = 4;

const deployments = [];
for (const checkout of process.argv.slice(2)) deployments.push(await deploy(checkout));
for (let turn = 0; turn < TURNS; turn++) for (const deployment of deployments) await measure(deployment);
console.log(`${CALLERS} callers, medians of ${TURNS} turns of ${SECONDS} s: µs of CPU a call`);
for (const { checkout, turns } of deployments) {
  const middle = (name: string) => median(turns.map((turn) => turn.get(name) ?? Number.NaN)).toFixed(0);
  const parts = ['sum', 'api', 'worker', 'redis'].map((name) => `${name} ${middle(name).padStart(5)}`);
  const failed = turns.reduce((sum, turn) => sum + (turn.get('failed') ?? 0), 0);
  console.log(
    `  ${basename(checkout).padEnd(16)} ${parts.join('  ')}   ${middle('calls/s')} calls/s, ${failed} failed`,
  );
}
for (const { tearDown } of deployments) await tearDown();

async function deploy(checkout: string) {
  const sharedDir = await mkdtemp(join(benchPlace(), 'rule-server-bench-'));
  await mkdir(join(sharedDir, 'mock'));
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench']);
  const deployment = await startDeployment({ SHARED_DIR: sharedDir }, checkout);
  await load(deployment.url, CALLERS, WARM_UP_SECONDS);
  const tearDown = async () => {
    await deployment[Symbol.asyncDispose]();
    await stop(responder);
    await rm(sharedDir, { recursive: true });
  };
  return { ...deployment, checkout, turns: [] as Map<string, number>[], tearDown };
}

async function measure({ url, processes, turns }: Awaited<ReturnType<typeof deploy>>): Promise<void> {
  const used = () => Object.entries(processes).map(([name, child]) => ({ name, us: usage(child).cpuSeconds * 1e6 }));
  const before = used();
  const { calls, perSecond, failed } = await load(url, CALLERS, SECONDS);
  const each = used().map(({ name, us }, at) => [name, (us - (before[at]?.us ?? 0)) / calls] as const);
  const sum = each.reduce((all, [, us]) => all + us, 0);
  turns.push(new Map([...each, ['sum', sum], ['calls/s', perSecond], ['failed', failed]]));
}
