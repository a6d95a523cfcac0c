import { execFile } from 'node:child_process';
import { open, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { httpCall } from '../support/http-call.ts';
import { serviceOnDisk } from '../support/service-on-disk.ts';

const own = serviceOnDisk({ afterMs: 30, settings: { RESULT_TIMEOUT_MS: 4000, CLIENT_TIMEOUT_MS: 30_000 } });
const { startAndListen, url, run } = own;
const uidOf = ({ text }: { text: string }) => Number(/"uid":(\d+)/.exec(text)?.[1]);

/** Over the database and its log: what is in one of them alone would come back. */
async function writeZeros(): Promise<void> {
  for (const name of ['store.db', 'store.db-wal']) {
    const path = join(own.sharedDir, '.rule-server/store', name);
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
  await own.service.kill();

  await startAndListen();
  expect(own.service.log.find(({ msg }) => msg.startsWith('The store was damaged'))?.msg).toMatch(/store\.damaged-/);
  for (const [index, { json }] of before.entries()) {
    const again = await run(index + 1, { 'idempotency-key': `key-${index + 1}` });
    expect(again.json.mockId).toBe(json.mockId);
  }
  for (const uid of [11, 12, 13, 14]) await run(uid, { 'idempotency-key': `key-${uid}` });
  const runs = own.responder.found.map(uidOf);
  expect(runs.length).toBe(new Set(runs).size);
});

it('a damaged store is moved aside: the service starts, ids of before are not found, and a repeat under a key runs nothing', async () => {
  await startAndListen();
  const ran = await run(1, { 'idempotency-key': 'key-1' });
  await own.service.kill();
  await writeZeros();

  await startAndListen();
  expect((await httpCall(url(`executions/${ran.json.mockId}`))).status).toBe(404);
  const again = await run(1, { 'idempotency-key': 'key-1' });
  expect(again.json.mockId).toBe(ran.json.mockId);
  expect(own.responder.found).toHaveLength(1);
  expect(own.service.log.find(({ msg }) => msg.startsWith('The store was damaged'))?.msg).toMatch(/store\.damaged-/);
  expect(await readdir(join(own.sharedDir, '.rule-server'))).toContainEqual(expect.stringMatching(/^store\.damaged-/));
});

it('a second process does not open the store, and says who has it', async () => {
  await startAndListen();
  const environment = { PATH: process.env.PATH, PORT: '0', SHARED_DIR: own.sharedDir };
  const second = promisify(execFile)(process.execPath, ['bin/rule-server.js', 'all'], {
    env: environment,
    timeout: 30_000,
  });
  await expect(second).rejects.toMatchObject({ code: 1 });
  await expect(second).rejects.toThrow(`is in use by process ${own.service.pid} on `);
});
