// `node bench/network-waits.ts`: the share of its time that a worker looks into directories while 1,000 calls are open over sshfs, in
// one directory and in 100. Needs root, sshfs and sftp-server.
import { setTimeout as sleep } from 'node:timers/promises';
import { mountNetwork } from './network-mount.ts';
import { freePort, startRedis, startScript, startService, stop, untilReady, usage } from './processes.ts';
import { writeRules } from './rule-files.ts';

const WAITS = 1000;
/** The client answers nothing before everything was measured. */
const RULE_MS = 55_000;
/** The share is averaged over 10 s: by then the beginning of the calls has left it. */
const SETTLING_MS = 20_000;
const SAMPLES = 20;
const APP = 1;

for (const clients of [1, 100]) await measure(clients);

async function measure(clients: number): Promise<void> {
  const network = await mountNetwork();
  const redisPort = await freePort();
  const redis = startRedis(redisPort);
  const common = {
    REDIS_URL: `redis://127.0.0.1:${redisPort}`,
    SHARED_DIR: network.path,
    MAX_WAITS_PER_CLIENT: '5000',
  };
  await writeRules(network.behind, APP);
  const { child: client } = await startScript('./many-clients.ts', [
    ...[network.behind, String(APP), String(clients), 'all', String(RULE_MS)],
  ]);
  const [port, healthPort] = [String(await freePort()), String(await freePort())];
  const api = startService('api', { ...common, PORT: port });
  const worker = startService('worker', { ...common, WORKER_PORT: healthPort });
  try {
    await untilReady(`http://127.0.0.1:${port}/readyz`);
    const giveUp = new AbortController();
    const calls = Array.from({ length: WAITS }, () => call(port, giveUp.signal));
    await sleep(SETTLING_MS);
    const [before, asked] = [usage(worker).cpuSeconds, sumOf(await network.requests())];
    const shares: number[] = [];
    for (let sample = 0; sample < SAMPLES; sample++) {
      await sleep(1000);
      shares.push(await metric(healthPort, 'rule_server_worker_listing_share'));
    }
    const open = await metric(healthPort, 'rule_server_worker_open_waits');
    const cpu = ((usage(worker).cpuSeconds - before) / SAMPLES) * 100;
    const requests = (sumOf(await network.requests()) - asked) / SAMPLES;
    const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
    const mean = shares.reduce((sum, share) => sum + share, 0) / shares.length;
    console.log(
      `${open} calls open in ${clients} ${clients === 1 ? 'directory' : 'directories'}: ${percent(mean)} of the time in looks, ` +
        `${percent(Math.max(...shares))} at most; ${cpu.toFixed(0)} % of a core, ${requests.toFixed(0)} requests a second`,
    );
    giveUp.abort();
    await Promise.all(calls);
  } finally {
    for (const child of [api, worker, client]) child.kill('SIGKILL');
    await stop(redis);
    await network.unmount();
  }
}

/** Ends with the measuring, whatever the call came to. */
async function call(port: string, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify({ app: APP, ruleId: 1, 'the service': { uid: 1 } });
  await fetch(`http://127.0.0.1:${port}/rule-server/mock/execute`, { method: 'POST', body, signal }).catch(() => {});
}

async function metric(port: string, name: string): Promise<number> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text());
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (.+)$`, 'm').exec(text)?.[1]);
}

function sumOf(counts: Map<string, number>): number {
  return [...counts.values()].reduce((sum, times) => sum + times, 0);
}
