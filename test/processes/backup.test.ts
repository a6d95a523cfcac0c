import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { callsAt } from '../support/calls-at.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { answersAfter, createResponder, type Responder } from '../support/responder.ts';
import { type ServiceProcess, startWholeProcess } from '../support/start-process.ts';

const APP = 7;
const SETTINGS = { EMBEDDED_STORE: 'disk', RESULT_TIMEOUT_MS: 6000, LOG_LEVEL: 'info' };

let sharedDir = '';
let port = 0;
let service: ServiceProcess;
let responder: Responder;
beforeEach(async () => {
  sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  port = await freePort();
  responder = await createResponder({ sharedDir, app: APP, does: answersAfter(5) });
});
afterEach(async () => {
  await service?.kill();
  await responder.stop();
});

async function start(): Promise<void> {
  service = await startWholeProcess({ sharedDir, port, settings: SETTINGS });
  await listens();
}
const { url, run, listens } = callsAt(() => port, APP);
const backup = (to: string, folder = sharedDir) =>
  promisify(execFile)(process.execPath, ['bin/rule-server.js', 'backup', '--shared-dir', folder, to]);

it('a copy is made under load; once it is put back, what had ended is there, and what had not is unknown and does not run', async () => {
  const to = join(sharedDir, 'copy.db');
  await start();
  const ended = await run(1, { 'idempotency-key': 'ended' });
  await responder.stop();
  const open = run(2, { 'idempotency-key': 'open' }).catch(() => {});
  await eventually(async () => expect((await httpCall(url('executions?limit=10'))).json.items).toHaveLength(2));

  const { stdout } = await backup(to);
  expect(stdout).toMatch(
    /copy\.db: \d+\.\d MB\. To put it back, stop the service, copy it to .*restore\.db, and start the service\.$/m,
  );
  expect((await stat(to)).size).toBeGreaterThan(4096);
  await expect(backup(to)).rejects.toThrow(/Nothing was copied: .*copy\.db is there already/);

  responder = await createResponder({ sharedDir, app: APP, does: answersAfter(5) });
  await open;
  await run(3, { 'idempotency-key': 'since' });
  const runs = responder.found.length;
  await service.kill(); // so that the log of the present database is still beside it
  await cp(to, join(sharedDir, '.rule-server/store/restore.db'));

  await start();
  expect((await run(1, { 'idempotency-key': 'ended' })).json).toMatchObject({
    mockId: ended.json.mockId,
    success: true,
  });
  expect((await run(2, { 'idempotency-key': 'open' })).json).toMatchObject({ code: 'outcome-unknown' });
  expect((await run(3, { 'idempotency-key': 'since' })).json).toMatchObject({ code: 'outcome-unknown' });
  expect(responder.found).toHaveLength(runs);
  expect(service.log.map(({ msg }) => msg)).toContainEqual(
    expect.stringMatching(/^The store is a copy that was put back/),
  );
  expect((await readdir(join(sharedDir, '.rule-server'))).filter((name) => name.startsWith('store.'))).toEqual([
    expect.stringMatching(/^store\.replaced-/),
  ]);
});

it('what is no copy of a store is not put back: the start says so, and the store stays as it was', async () => {
  await start();
  const ended = await run(1, { 'idempotency-key': 'ended' });
  await service.terminate();
  const restore = join(sharedDir, '.rule-server/store/restore.db');
  await writeFile(restore, 'not a database, and long enough to be read as the head of one'.repeat(40));
  service = await startWholeProcess({ sharedDir, port, settings: SETTINGS, untilReady: false });
  await eventually(() => expect(service.isRunning).toBe(false));
  expect(service.noise).toEqual([expect.stringMatching(/restore\.db cannot be put back/)]);
  await rm(restore);
  await start();
  expect((await run(1, { 'idempotency-key': 'ended' })).json).toMatchObject({ mockId: ended.json.mockId });
});

it('calls are answered while it is copied', async () => {
  await start();
  let isOver = false;
  const copied = backup(join(sharedDir, 'copy.db')).finally(() => {
    isOver = true;
  });
  for (let uid = 0; !isOver || uid < 10; uid++) expect((await run(uid)).status).toBe(200);
  await copied;
});

it('where no process keeps a store, it says so', async () => {
  await expect(backup(join(sharedDir, 'copy.db'))).rejects.toMatchObject({
    code: 8,
    stderr: expect.stringMatching(
      /^Nothing was copied: no process keeps a store in .*\(ENOENT\)\. Say with --shared-dir/,
    ),
  });
});
