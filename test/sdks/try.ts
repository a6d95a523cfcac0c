// Starts one SDK's host and plays the server by hand: `node test/sdks/try.ts python|java|go`.
import { cp, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Host } from './host.ts';
import { awaitResult, mockDirectory, putRequest, type Question } from './play-server.ts';
import { prepareSdk, sampleApp, sdkNames } from './toolchains.ts';

const spring = '{"score":75.5,"age":20,"uid":9007199254740993,"vip":{"level":2},"which":"age"}';
const numbers =
  '{"uid":9223372036854775807,"big":123456789012345678901234567890,"small":1,"one":1.0,"exp":1e21,"zero":-0,"nothing":null}';
const keys = '{"pre_score":1,"which":"uid","uid":7,"vip":{"level":2},"order":{"total":11}}';
const questions: [string, Question][] = [
  ['rule 1: nested, forward, time window', { iceId: 1, roam: spring }],
  ['rule 1, sub-tree 16', { iceId: 1, confId: 16, roam: spring }],
  ['node 14 alone', { confId: 14, roam: '{"age":17}' }],
  ['rule 3: inverse', { iceId: 3, roam: '{"uid":1,"age":20,"vip":{"level":5}}' }],
  ['rule 4: outside its window', { iceId: 4, roam: '{"age":20}' }],
  ['rule 4, as of its window', { iceId: 4, ts: 500, roam: '{"age":20}' }],
  ['rule 6: int64', { iceId: 6, roam: numbers }],
  ['rule 6 with a _ice key', { iceId: 6, roam: '{"_ice":{"id":99},"uid":1}' }],
  ['rule 7: every kind of key', { iceId: 7, roam: keys }],
  ['rule 9: a leaf nobody registered', { iceId: 9, roam: '{"age":20}' }],
  ['rule 12345: unknown', { iceId: 12345, roam: '{}' }],
  ['rule 5: sleeps', { iceId: 5, roam: '{}' }],
  ['rule 2: throws', { iceId: 2, roam: '{"age":20}' }],
];

const name = sdkNames.find((known) => known === process.argv[2]);
if (name === undefined) throw new Error(`say which: ${sdkNames.join(', ')}`);
const preparing = Date.now();
const sdk = await prepareSdk(name);
if (sdk.kind !== 'ready') throw new Error(sdk.reason);
console.log(`${sdk.artifact} ready after ${Date.now() - preparing} ms`);

const sharedDir = await mkdtemp(join(tmpdir(), 'sdk-host-'));
await cp(sampleApp, join(sharedDir, '7'), { recursive: true });
try {
  let host = await start();
  console.log('registration:', await readFile(host.registration, 'utf8'));
  for (const [title, question] of questions) await ask(host, title, question);

  console.log('\n== after the throw');
  await sleep(1000);
  console.log(await ending(host));
  host = await start();
  await interrupt(host, 'SIGTERM while running', () => host.stop());
  host = await start();
  await interrupt(host, 'SIGKILL while running', () => host.kill());
} finally {
  await rm(sharedDir, { recursive: true });
}

async function start(): Promise<Host> {
  if (sdk.kind !== 'ready') throw new Error(sdk.reason);
  const began = Date.now();
  const host = await sdk.start({ sharedDir, app: 7, pollSeconds: 0.5, heartbeatSeconds: 1 });
  console.log(`\n${host.address} registered after ${Date.now() - began} ms`);
  return host;
}

async function ask(host: Host, title: string, question: Question): Promise<void> {
  const mockId = `try${Date.now()}`;
  const directory = mockDirectory(sharedDir, 7, host);
  const began = Date.now();
  console.log(`\n== ${title}\n>`, await putRequest(directory, mockId, question));
  console.log('<', await awaitResult(directory, mockId, host), `(${Date.now() - began} ms)`);
}

async function interrupt(host: Host, title: string, end: () => Promise<unknown>): Promise<void> {
  console.log(`\n== ${title}`);
  const directory = mockDirectory(sharedDir, 7, host);
  await putRequest(directory, 'cut', { iceId: 5, roam: '{}' });
  while ((await readdir(directory)).includes('cut.json')) await sleep(20);
  const began = Date.now();
  console.log(await end(), `after ${Date.now() - began} ms; left behind:`);
  console.log((await readdir(sharedDir, { recursive: true })).filter((path) => /^(mock|clients)/.test(path)));
}

async function ending(host: Host): Promise<string> {
  if (host.process.exitCode === null && host.process.signalCode === null) {
    console.log('the host is alive; stopping it:', await host.stop());
    return host.output().split('\n').slice(-12).join('\n');
  }
  return `the host ended: ${JSON.stringify(await host.exited)}\n${host.output().slice(-3000)}`;
}
