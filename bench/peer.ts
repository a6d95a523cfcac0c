// `node bench/peer.ts <binary of the published server> [checkout …]`: calls a second that the published server and the service of each
// checkout (this one) answer from the same callers, through clients that answer at once; all are up at once and measured in turn. Beside
// each: which part of its calls was served, and its calls a second by those of the published server. Needs Linux, redis-server.
//   BENCH_CALLERS=500,1000,3000  BENCH_SECONDS=10  BENCH_TURNS=2
import { spawn } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import autocannon from 'autocannon';
import { startAnswered } from './deployment.ts';
import { executeCall, tellAnswers } from './load.ts';
import { median } from './median.ts';
import { freePort, startScript, stop, untilReady } from './processes.ts';
import { makeSharedDir } from './set-up.ts';

const [binary = '', ...given] = process.argv.slice(2);
if (binary === '') throw new Error('Give the path of the published server’s binary.');
const checkouts = given.length > 0 ? given : [join(import.meta.dirname, '..')];
const CALLERS = (process.env.BENCH_CALLERS ?? '500,1000,3000').split(',').map(Number);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 10);
const TURNS = Number(process.env.BENCH_TURNS ?? 2);
const WARM_UP_SECONDS = 4;

type Call = Pick<autocannon.Options, 'url' | 'method' | 'headers' | 'body' | 'timeout'>;
type Peer = { name: string; call: Call; tearDown: () => Promise<void> };
type Turn = { perSecond: number; share: number };

const peers = [await publishedServer(), ...(await Promise.all(checkouts.map(ours)))];
for (const peer of peers) await measure(peer, 100, WARM_UP_SECONDS);
for (const callers of CALLERS) {
  const turns = peers.map((): Turn[] => []);
  for (let turn = 0; turn < TURNS; turn++)
    for (const [n, peer] of peers.entries()) turns[n]?.push(await measure(peer, callers, SECONDS));
  console.log(`${callers} callers, medians of ${TURNS} turns of ${SECONDS} s`);
  const first = median((turns[0] ?? []).map(({ perSecond }) => perSecond));
  for (const [n, { name }] of peers.entries()) {
    const perSecond = median((turns[n] ?? []).map((turn) => turn.perSecond));
    const share = median((turns[n] ?? []).map((turn) => turn.share));
    console.log(
      `  ${name.padEnd(20)} ${perSecond.toFixed(0).padStart(5)} calls/s (${(perSecond / first).toFixed(2)}), ${(100 * share).toFixed(0)} % served`,
    );
  }
}
for (const { tearDown } of peers) await tearDown();

async function measure({ call }: Peer, callers: number, seconds: number): Promise<Turn> {
  let [good, all] = [0, 0];
  const { duration, errors } = await autocannon({
    ...call,
    connections: callers,
    duration: seconds,
    setupClient: tellAnswers(({ status, body }) => {
      all++;
      if (status === 200 && body.includes('"success":true')) good++;
    }),
  });
  return { perSecond: good / duration, share: good / (all + errors) };
}

async function publishedServer(): Promise<Peer> {
  const sharedDir = await makeSharedDir();
  const { child: responder } = await startScript('./responder.ts', [sharedDir, '1', 'bench', '0', 'published']);
  await mkdir(join(sharedDir, 'apps'));
  const port = String(await freePort());
  const server = spawn(binary, ['-port', port, '-storage-path', sharedDir], { stdio: 'ignore' });
  process.on('exit', () => server.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  await untilReady(`${url}/ice-server/app/list`);
  const body = JSON.stringify({ app: 1, iceId: 1, target: 'address:bench', roam: { uid: 1, cost: 120 } });
  return {
    name: 'published server',
    call: { ...executeCall(url), url: `${url}/ice-server/mock/execute`, body },
    tearDown: async () => {
      await stop(responder, server);
      await rm(sharedDir, { recursive: true });
    },
  };
}

async function ours(checkout: string): Promise<Peer> {
  const { url, tearDown } = await startAnswered(checkout, 'published');
  return { name: basename(checkout), call: executeCall(url), tearDown };
}
