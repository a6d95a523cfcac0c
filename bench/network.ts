// `node bench/network.ts`: what a call costs where clients are on other machines. The worker sees SHARED_DIR over sshfs, the
// client works beside the files, so no event of its reaches the worker. Needs root, sshfs, sftp-server and, for the delay, python3.
// On GlusterFS (needs glusterfs-server) each has a mount of its own.
// `node bench/network.ts default` takes only mounts with that word in their name.
import { tellLeftOut, tellMeasured } from './findings.ts';
import type { GoalName } from './goals.ts';
import { openMount } from './network-calls.ts';
import { canMountGluster, canMountNetwork, type Mount, overGluster, overSshfs } from './network-mount.ts';
import { startScript } from './processes.ts';

const SECONDS = Number(process.env.BENCH_SECONDS ?? 6);
/** Where one call of a hundred matters, there must be about a hundred. */
const SLOW_SECONDS = 3 * SECONDS;
const CALLERS = 50;
/** What libuv has in the service. */
const FILE_THREADS = '64';

const INSTANT = 1;
const RULE = { app: 2, ms: 700, callers: 5 };
const LONG_RULE = { app: 3, ms: 2000, callers: 10 };
const apps = new Map([[INSTANT, 0], ...[RULE, LONG_RULE].map(({ app, ms }): [number, number] => [app, ms])]);

type Open = Awaited<ReturnType<typeof openMount>>;
type Goals = Record<'p50' | 'requests', GoalName>;
const byDefault = overSshfs('sshfs as it is by default');
const fresh = overSshfs('sshfs with dir_cache=no', { options: ['dir_cache=no'] });
const delayed = overSshfs('sshfs, 1 ms more for each request', { delayMs: 1 });
const only = process.argv[2] ?? '';

if (canMountNetwork) {
  await over(byDefault, async (mount) => {
    await oneAtATime(mount, { p50: 'networkOne', requests: 'networkRequests' });
    await slowRule(mount, RULE, { p50: 'rule', p99: 'ruleLate' });
    await slowRule(mount, LONG_RULE, { p50: 'longRule', p99: 'longRuleLate' });
    await manyCallers(mount, 'networkFifty');
  });
  await over(fresh, async (mount) => {
    await oneAtATime(mount);
    await slowRule(mount, RULE);
    await manyCallers(mount);
  });
  await over(delayed, async (mount) => {
    await oneAtATime(mount, { p50: 'delayedOne', requests: 'delayedRequests' });
    await slowRule(mount, RULE);
    await manyCallers(mount);
  });
} else {
  tellLeftOut(
    [
      ...(['networkOne', 'networkRequests', 'delayedOne', 'delayedRequests'] as const),
      ...(['rule', 'ruleLate', 'longRule', 'longRuleLate', 'networkFifty'] as const),
    ],
    'it needs root and sshfs',
  );
}

if (canMountGluster) {
  await over(overGluster, async (mount) => {
    await oneAtATime(mount);
    await slowRule(mount, RULE);
    await manyCallers(mount);
  });
}

async function over(mount: Mount, measure: (open: Open) => Promise<void>): Promise<void> {
  if (!mount.name.includes(only)) return;
  console.log(`\n${mount.name}`);
  await using open = await openMount(mount, apps);
  await open.calls('warming up', { app: INSTANT, callers: 4, seconds: 2 });
  await measure(open);
}

async function oneAtATime(mount: Open, goals?: Goals): Promise<void> {
  const one = await mount.calls('one at a time', { app: INSTANT, callers: 1, seconds: SECONDS });
  console.log(`  one at a time      p50 ${ms(one.p50)}  p99 ${ms(one.p99)}  ${one.failures}`);
  console.log(`  requests a call    ${one.requests.all.toFixed(1)} (${one.requests.each})`);
  if (!goals) return;
  tellMeasured(goals.p50, one.p50);
  tellMeasured(goals.requests, one.requests.all, one.requests.each);
}

async function slowRule(mount: Open, rule: typeof RULE, goals?: Record<'p50' | 'p99', GoalName>): Promise<void> {
  const waited = await mount.calls(`a rule of ${rule.ms} ms`, { ...rule, seconds: goals ? SLOW_SECONDS : SECONDS });
  const added = { p50: share(waited.p50), p99: share(waited.p99) };
  const seen = `${rule.callers} callers, ${waited.calls} calls`;
  const [p50, p99] = [added.p50.toFixed(1), added.p99.toFixed(1)];
  console.log(`  a rule of ${rule.ms} ms   p50 +${p50} %  p99 +${p99} %  ${waited.failures}  (${seen})`);
  if (!goals) return;
  tellMeasured(goals.p50, added.p50, seen);
  tellMeasured(goals.p99, added.p99);

  function share(at: number): number {
    return ((at - rule.ms) / rule.ms) * 100;
  }
}

async function manyCallers(mount: Open, goal?: GoalName): Promise<void> {
  const parameters = [mount.path, String(CALLERS), String(SECONDS)];
  const { message } = await startScript('./network-operations.ts', parameters, { UV_THREADPOOL_SIZE: FILE_THREADS });
  const alone = `its file operations alone ${Number(message).toFixed(0)}/s`;
  const many = await mount.calls(`${CALLERS} callers`, { app: INSTANT, callers: CALLERS, seconds: SECONDS });
  const { perSecond, p50, p99, failures, cpuUs, requests } = many;
  console.log(
    `  ${CALLERS} callers         ${perSecond.toFixed(0)}/s  p50 ${ms(p50)}  p99 ${ms(p99)}  ${failures}  ${cpuUs.toFixed(0)} µs of the worker's CPU a call`,
  );
  console.log(`  ${alone}\n  requests a call    ${requests.all.toFixed(1)} (${requests.each})`);
  if (goal) tellMeasured(goal, perSecond, alone);
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}
