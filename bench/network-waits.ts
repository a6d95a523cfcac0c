// `node bench/network-waits.ts`: the share of its time that a worker looks into directories while 1,000 calls of 60 s are open over
// sshfs, in one directory and in 100. Needs root, sshfs and sftp-server.
import { setTimeout as sleep } from 'node:timers/promises';
import { callOnce, failuresIn, type Outcome } from './call-once.ts';
import { startDeployment } from './deployment.ts';
import { tellFailures, tellLeftOut, tellMeasured } from './findings.ts';
import type { GoalName } from './goals.ts';
import { canMountNetwork, mountNetwork } from './network-mount.ts';
import { freePort, startScript, stop, usage } from './processes.ts';
import { writeRules } from './rule-files.ts';

const WAITS = 1000;
const RULE_MS = 60_000;
/** The share is averaged over 10 s: by then the beginning of the calls has left it. */
const SETTLING_MS = 20_000;
const SAMPLES = 20;
const APP = 1;

if (canMountNetwork) {
  await measure(1, 'waitsInOne');
  await measure(100, 'waitsInHundred');
} else tellLeftOut(['waitsInOne', 'waitsInHundred'], 'it needs root and sshfs');

async function measure(clients: number, goal: GoalName): Promise<void> {
  await using started = new AsyncDisposableStack();
  const network = started.use(await mountNetwork());
  await writeRules(network.behind, APP);
  const parameters = [network.behind, String(APP), String(clients), 'all', String(RULE_MS)];
  const { child: client } = await startScript('./many-clients.ts', parameters);
  started.defer(() => stop(client));
  const WORKER_PORT = String(await freePort());
  const settings = { SHARED_DIR: network.path, WORKER_PORT, RESULT_TIMEOUT_MS: String(2 * RULE_MS) };
  const { url, worker } = started.use(await startDeployment(settings));
  const calls = Array.from({ length: WAITS }, () => callOnce(url));
  await sleep(SETTLING_MS);
  const [before, asked] = [usage(worker).cpuSeconds, sumOf(await network.requests())];
  const shares: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample++) {
    await sleep(1000);
    shares.push((await metric(WORKER_PORT, 'rule_server_worker_listing_share')) * 100);
  }
  const open = await metric(WORKER_PORT, 'rule_server_worker_open_waits');
  const cpu = ((usage(worker).cpuSeconds - before) / SAMPLES) * 100;
  const requests = (sumOf(await network.requests()) - asked) / SAMPLES;
  const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
  const most = `${Math.max(...shares).toFixed(1)} % at most, averaged over 10 s`;
  const where = clients === 1 ? '1 directory' : `${clients} directories`;
  const used = `${cpu.toFixed(0)} % of a core, ${requests.toFixed(0)} requests a second`;
  console.log(`${open} calls open in ${where}: ${mean.toFixed(1)} % of the time in looks, ${most}; ${used}`);
  tellMeasured(goal, mean, `${open} open; ${most}`);
  tellAnswers(where, await Promise.all(calls));
}

function tellAnswers(where: string, outcomes: readonly Outcome[]): void {
  const slowest = Math.max(...outcomes.map(({ ms }) => ms));
  const failures = tellFailures(`${WAITS} waits over sshfs in ${where}`, failuresIn(outcomes));
  console.log(`  the last of them was answered after ${(slowest / 1000).toFixed(1)} s; ${failures}`);
}

async function metric(port: string, name: string): Promise<number> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.+)$`, 'm').exec(text)?.[1]);
}

function sumOf(counts: Map<string, number>): number {
  return [...counts.values()].reduce((sum, times) => sum + times, 0);
}
