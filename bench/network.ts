// `node bench/network.ts`: what a call costs where clients are on other machines. The worker sees SHARED_DIR over sshfs, the
// client works beside the files, so no event of its reaches the worker. Needs root, sshfs, sftp-server and, for the delay, python3.
import { spawnSync } from 'node:child_process';
import { load } from './load.ts';
import { mountNetwork } from './network-mount.ts';
import { operationsAlone } from './network-operations.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady, usage } from './processes.ts';
import { writeRules } from './rule-files.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
const RULE_MS = 700;
const CALLERS = 50;
const [INSTANT, SLOW] = [1, 2];
/** How `SHARED_DIR` is mounted. */
const mounts = [
  { name: 'sshfs as it is by default', options: [], delayMs: 0 },
  { name: 'sshfs with dir_cache=no', options: ['dir_cache=no'], delayMs: 0 },
  { name: 'sshfs, 1 ms more for each request', options: [], delayMs: 1 },
];
const only = process.argv[2];

const canMount = process.getuid?.() === 0 && spawnSync('sshfs', ['--version']).status === 0;
if (!canMount) console.log('Over a network: left out, it needs root and sshfs');
for (const mount of canMount ? mounts : []) if (only === undefined || mount.name.includes(only)) await measure(mount);

async function measure({ name, options, delayMs }: (typeof mounts)[number]): Promise<void> {
  console.log(`\n${name}`);
  const network = await mountNetwork({ options, delayMs });
  const port = await freePort();
  const redis = startRedis(port);
  const common = {
    REDIS_URL: `redis://127.0.0.1:${port}`,
    SHARED_DIR: network.path,
    PORT: String(await freePort()),
    MAX_WAITS_PER_CLIENT: '5000',
  };
  const instant = await startScript('./responder.ts', [network.behind, String(INSTANT), 'bench']);
  const slow = await startScript('./responder.ts', [network.behind, String(SLOW), 'slow', String(RULE_MS)]);
  for (const app of [INSTANT, SLOW]) await writeRules(network.behind, app);
  const api = startService('api', common);
  const worker = startService('worker', common);
  const url = `http://127.0.0.1:${common.PORT}`;
  try {
    await untilReady(`${url}/readyz`);
    await load(url, 4, 2, { app: INSTANT });
    const before = await network.requests();
    const one = await load(url, 1, SECONDS, { app: INSTANT });
    const each = perCall(before, await network.requests(), one.calls);
    console.log(`  one at a time      p50 ${ms(one.p50)}  p99 ${ms(one.p99)}  ${one.failed} failed`);
    console.log(`  requests a call    ${each}`);
    const waited = await load(url, 5, SECONDS, { app: SLOW });
    const beyond = (at: number) => `${(((at - RULE_MS) / RULE_MS) * 100).toFixed(0)} %`;
    console.log(
      `  a rule of ${RULE_MS} ms   p50 +${beyond(waited.p50)}  p99 +${beyond(waited.p99)}  ${waited.failed} failed`,
    );
    const alone = await operationsAlone(network.path, CALLERS, SECONDS);
    console.log(`  its file operations alone, ${CALLERS} at a time   ${alone.toFixed(0)}/s`);
    const cpuBefore = usage(worker).cpuSeconds;
    const beforeFifty = await network.requests();
    const fifty = await load(url, CALLERS, SECONDS, { app: INSTANT });
    const cpu = ((usage(worker).cpuSeconds - cpuBefore) / fifty.calls) * 1e6;
    console.log(
      `  ${CALLERS} callers         ${fifty.perSecond.toFixed(0)}/s  p50 ${ms(fifty.p50)}  p99 ${ms(fifty.p99)}  ${fifty.failed} failed  ${cpu.toFixed(0)} µs of the worker's CPU a call`,
    );
    console.log(`  requests a call    ${perCall(beforeFifty, await network.requests(), fifty.calls)}`);
  } finally {
    await stop(api, worker, instant.child, slow.child, redis);
    await network.unmount();
  }
}

function perCall(before: Map<string, number>, after: Map<string, number>, calls: number): string {
  const each = [...after].map(([kind, times]) => ({ kind, times: (times - (before.get(kind) ?? 0)) / calls }));
  const sum = each.reduce((all, { times }) => all + times, 0);
  const most = each.filter(({ times }) => times >= 0.1).toSorted((a, b) => b.times - a.times);
  return `${sum.toFixed(1)} (${most.map(({ kind, times }) => `${kind} ${times.toFixed(1)}`).join(', ')})`;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
