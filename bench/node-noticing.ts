// `node bench/node-noticing.ts`: how soon a client on the Node SDK takes a request where no events arrive: it sees SHARED_DIR over
// sshfs, the worker is beside the files. Once it was used in the last minute, and once it was not. Needs root and sshfs.
import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { writeDemoRules } from '../src/client/demo/write-rules.ts';
import { DEMO_APP } from '../src/client/demo.ts';
import { callOnce, failuresIn, type Outcome } from './call-once.ts';
import { startDeployment } from './deployment.ts';
import { tellFailures, tellLeftOut, tellMeasured } from './findings.ts';
import type { GoalName } from './goals.ts';
import { median } from './median.ts';
import { canMountNetwork, mountNetwork } from './network-mount.ts';
import { startScript, stop } from './processes.ts';

/** Longer than a client counts as used (`src/client/requests/poll-pace.ts`). */
const IDLE_MS = 61_000;
/** Each is asked once: then it is idle no more. */
const IDLE_CLIENTS = 15;
/** A request comes at any moment between two looks. */
const LONGEST_PAUSE_MS = 1000;

type Sample = Outcome & { noticedMs: number | undefined };

if (canMountNetwork) await measure();
else tellLeftOut(['nodeUsed', 'nodeIdle'], 'it needs root and sshfs');

async function measure(): Promise<void> {
  await using started = new AsyncDisposableStack();
  const network = started.use(await mountNetwork());
  await writeDemoRules(network.behind, DEMO_APP);
  const startClients = async (count: number) => {
    const { child, message } = await startScript('./node-clients.ts', [network.path, String(count)]);
    started.defer(() => stop(child));
    return z.array(z.string()).parse(message);
  };
  const [[used = ''], idle] = [await startClients(1), await startClients(IDLE_CLIENTS)];
  const until = performance.now() + IDLE_MS;
  const { url } = started.use(await startDeployment({ SHARED_DIR: network.behind }));
  const ask = (address: string) => askOne(url, join(network.behind, 'mock', String(DEMO_APP), address), address);
  const first = tellFailures('Node SDK over sshfs, the first call', failuresIn([await ask(used)]));
  console.log(`the first call, after which the client counts as used: ${first}`);
  const often: Sample[] = [];
  while (performance.now() < until) often.push(await ask(used));
  tell('nodeUsed', 'used in the last minute', often);
  const once: Sample[] = [];
  for (const address of idle) once.push(await ask(address));
  tell('nodeIdle', 'idle', once);
}

/** Calls one client, and sees beside the files when its request is there and when it is gone. */
async function askOne(url: string, directory: string, address: string): Promise<Sample> {
  await sleep(Math.random() * LONGEST_PAUSE_MS);
  const changes: number[] = [];
  const watcher = watch(directory, (event, name) => {
    const isRequest = name?.endsWith('.json') && !name.endsWith('_result.json') && !name.startsWith('.');
    if (event === 'rename' && isRequest) changes.push(performance.now());
  });
  const outcome = await callOnce(url, { app: DEMO_APP, target: `address:${address}` });
  watcher.close();
  const [thereAt, goneAt] = changes;
  const noticedMs = thereAt === undefined || goneAt === undefined ? undefined : goneAt - thereAt;
  return { ...outcome, noticedMs };
}

function tell(goal: GoalName, name: string, samples: readonly Sample[]): void {
  const failures = tellFailures(`Node SDK over sshfs, ${name}`, failuresIn(samples));
  const noticed = samples.flatMap(({ noticedMs }) => noticedMs ?? []);
  const [p50, most] = [median(noticed), Math.max(...noticed)];
  const seen = `${noticed.length} requests, at most ${most.toFixed(0)} ms`;
  console.log(
    `Node SDK over sshfs, ${name}: a request is noticed after ${p50.toFixed(0)} ms (p50; ${seen}); ${failures}`,
  );
  tellMeasured(goal, p50, seen);
}
