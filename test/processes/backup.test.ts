import { execFile } from 'node:child_process';
import { cp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { httpCall } from '../support/http-call.ts';
import { serviceOnDisk } from '../support/service-on-disk.ts';

const own = serviceOnDisk({ afterMs: 5, settings: { RESULT_TIMEOUT_MS: 6000 } });
const { startAndListen, url, run } = own;
const backup = (to: string, folder = own.sharedDir) =>
  promisify(execFile)(process.execPath, ['bin/rule-server.js', 'backup', '--shared-dir', folder, to]);

it('a copy is made under load; once it is put back, what had ended is there, and what had not is unknown and does not run', async () => {
  const to = join(own.sharedDir, 'copy.db');
  await startAndListen();
  const ended = await run(1, { 'idempotency-key': 'ended' });
  await own.responder.stop();
  const open = run(2, { 'idempotency-key': 'open' }).catch(() => {});
  await eventually(async () => expect((await httpCall(url('executions?limit=10'))).json.items).toHaveLength(2));

  const { stdout } = await backup(to);
  expect(stdout).toMatch(
    /copy\.db: \d+\.\d MB\. To put it back, stop the service, copy it to .*restore\.db, and start the service\.$/m,
  );
  expect((await stat(to)).size).toBeGreaterThan(4096);
  await expect(backup(to)).rejects.toThrow(/Nothing was copied: .*copy\.db is there already/);

  await own.playClient();
  await open;
  await run(3, { 'idempotency-key': 'since' });
  const runs = own.responder.found.length;
  await own.service.kill(); // so that the log of the present database is still beside it
  await cp(to, join(own.sharedDir, '.rule-server/store/restore.db'));

  await startAndListen();
  expect((await run(1, { 'idempotency-key': 'ended' })).json).toMatchObject({
    mockId: ended.json.mockId,
    success: true,
  });
  expect((await run(2, { 'idempotency-key': 'open' })).json).toMatchObject({ code: 'outcome-unknown' });
  expect((await run(3, { 'idempotency-key': 'since' })).json).toMatchObject({ code: 'outcome-unknown' });
  expect(own.responder.found).toHaveLength(runs);
  expect(own.service.log.map(({ msg }) => msg)).toContainEqual(
    expect.stringMatching(/^The store is a copy that was put back/),
  );
  expect((await readdir(join(own.sharedDir, '.rule-server'))).filter((name) => name.startsWith('store.'))).toEqual([
    expect.stringMatching(/^store\.replaced-/),
  ]);
});

it('what is no copy of a store is not put back: the start says so, and the store stays as it was', async () => {
  await startAndListen();
  const ended = await run(1, { 'idempotency-key': 'ended' });
  await own.service.terminate();
  const restore = join(own.sharedDir, '.rule-server/store/restore.db');
  await writeFile(restore, 'not a database, and long enough to be read as the head of one'.repeat(40));
  await own.start(false);
  await eventually(() => expect(own.service.isRunning).toBe(false));
  expect(own.service.noise).toEqual([expect.stringMatching(/restore\.db cannot be put back/)]);
  await rm(restore);
  await startAndListen();
  expect((await run(1, { 'idempotency-key': 'ended' })).json).toMatchObject({ mockId: ended.json.mockId });
});

it('calls are answered while it is copied', async () => {
  await startAndListen();
  let isOver = false;
  const copied = backup(join(own.sharedDir, 'copy.db')).finally(() => {
    isOver = true;
  });
  for (let uid = 0; !isOver || uid < 10; uid++) expect((await run(uid)).status).toBe(200);
  await copied;
});

it('where no process keeps a store, it says so', async () => {
  await expect(backup(join(own.sharedDir, 'copy.db'))).rejects.toMatchObject({
    code: 8,
    stderr: expect.stringMatching(
      /^Nothing was copied: no process keeps a store in .*\(ENOENT\)\. Say with --shared-dir/,
    ),
  });
});
