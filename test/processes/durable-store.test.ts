import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, open, readdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callsAt } from '../support/calls-at.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { answersAfter, createResponder, type Responder } from '../support/responder.ts';
import { type ServiceProcess, startWholeProcess } from '../support/start-process.ts';

const APP = 7;
const SETTINGS = {
  EMBEDDED_STORE: 'disk',
  HISTORY_COUNT: 100_000,
  QUEUE_TIMEOUT_MS: 5000,
  RESULT_TIMEOUT_MS: 4000,
  CLIENT_TIMEOUT_MS: 30_000,
  LOG_LEVEL: 'info',
};

let sharedDir = '';
let port = 0;
let service: ServiceProcess;
let responder: Responder;

beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  port = await freePort();
  responder = await createResponder({ sharedDir, app: APP, does: answersAfter(30) });
});
afterEach(async () => {
  await service?.kill();
  await responder.stop();
});

const startAndListen = async () => {
  service = await startWholeProcess({ sharedDir, port, settings: SETTINGS });
  await listens();
};
const { url, run, listens } = callsAt(() => port, APP);
const uidOf = ({ text }: { text: string }) => Number(/"uid":(\d+)/.exec(text)?.[1]);

/** Over the database and its log: what is in one of them alone would come back. */
async function writeZeros(): Promise<void> {
  for (const name of ['store.db', 'store.db-wal']) {
    const path = join(sharedDir, '.rule-server/store', name);
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(size));
    await file.close();
  }
}

it('a store that is overwritten with zeros under load: the next start moves it aside, and no key runs again', async () => {
  await startAndListen();
  const before = await Promise.all([1, 2, 3].map((uid) => run(uid, { 'idempotency-key': `key-${uid}` })));
  const load = Promise.all(
    [11, 12, 13, 14].map((uid) => run(uid, { 'idempotency-key': `key-${uid}` }).catch(() => {})),
  );
  await writeZeros();
  await load;
  await service.kill();

  await startAndListen();
  expect(service.log.find(({ msg }) => msg.startsWith('The store was damaged'))?.msg).toMatch(/store\.damaged-/);
  for (const [index, { json }] of before.entries()) {
    const again = await run(index + 1, { 'idempotency-key': `key-${index + 1}` });
    expect(again.json.mockId).toBe(json.mockId);
  }
  for (const uid of [11, 12, 13, 14]) await run(uid, { 'idempotency-key': `key-${uid}` });
  const runs = responder.found.map(uidOf);
  expect(runs.length).toBe(new Set(runs).size);
});

it('a damaged store is moved aside: the service starts, ids of before are not found, and a repeat under a key runs nothing', async () => {
  await startAndListen();
  const ran = await run(1, { 'idempotency-key': 'key-1' });
  await service.kill();
  await writeZeros();

  await startAndListen();
  expect((await httpCall(url(`executions/${ran.json.mockId}`))).status).toBe(404);
  const again = await run(1, { 'idempotency-key': 'key-1' });
  expect(again.json.mockId).toBe(ran.json.mockId);
  expect(responder.found).toHaveLength(1);
  expect(service.log.find(({ msg }) => msg.startsWith('The store was damaged'))?.msg).toMatch(/store\.damaged-/);
  expect(await readdir(join(sharedDir, '.rule-server'))).toContainEqual(expect.stringMatching(/^store\.damaged-/));
});

it('a second process does not open the store, and says who has it', async () => {
  await startAndListen();
  const environment = { PATH: process.env.PATH, PORT: '0', SHARED_DIR: sharedDir };
  const second = promisify(execFile)(process.execPath, ['bin/rule-server.js', 'all'], {
    env: environment,
    timeout: 30_000,
  });
  await expect(second).rejects.toMatchObject({ code: 1 });
  await expect(second).rejects.toThrow(`is in use by process ${service.pid} on `);
});
