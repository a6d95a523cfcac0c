import { mkdir, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { canMount, mountTemporary } from '../support/mounts.ts';
import { type Behaviour, createResponder, resultText } from '../support/responder.ts';
import { startWholeProcess } from '../support/start-process.ts';
import { twice } from '../support/steady-calls.ts';

const APP = 7;
const SETTINGS = { EMBEDDED_STORE: 'disk', QUEUE_TIMEOUT_MS: 5000, RESULT_TIMEOUT_MS: 30_000, LOG_LEVEL: 'info' };
const MB = 1024 * 1024;

describe.skipIf(!canMount)('the disk of the store is full (needs root)', () => {
  it('calls are refused with what to do, open ones end, and with room again it goes on with its whole history', async () => {
    await using disk = await mountTemporary('180m');
    await using service = await startOn(disk.path);
    const { call, client, ready, listed, readiness } = service;
    await ready();
    const before = await call('quick');
    const open = call('slow');
    await eventually(() => expect(client.found).toHaveLength(2));

    await leave(disk.path, 48 * MB);
    await eventually(async () => expect((await readiness()).text).toMatch(/4\d MB are left/));
    const sentence =
      /takes no calls \(the disk of SHARED_DIR is full: 4\d MB are left, and 64 are needed; make room there\)/;
    const refused = await call('refused');
    expect(refused).toMatchObject({ status: 503, json: { code: 'queue-unavailable', mayHaveRun: false } });
    expect(refused.json.error).toMatch(sentence);
    expect((await call('refused', KEY)).json.error).toMatch(sentence);
    expect(await readiness()).toMatchObject({ status: 503, json: { reason: expect.stringContaining('make room') } });
    service.answerNow();
    expect((await open).status).toBe(200);
    await makeRoom(disk.path);
    await ready();

    const cut = await call('quick', { prefer: 'respond-async' });
    await leave(disk.path, 0);
    // What a call is told of may have been looked up while the file was still growing.
    await eventually(async () => expect((await call('refused')).json.error).toMatch(/ 0 MB are left/));
    await makeRoom(disk.path);
    await ready();
    const after = await eventually(async () => {
      const answer = await call('after');
      expect(answer.status).toBe(200);
      return answer;
    });
    await eventually(async () => expect((await service.execution(cut.json.mockId)).ending).not.toBeNull());
    expect(twice(client.found)).toEqual([]);
    const history = await listed();
    for (const { json } of [before, after]) expect(history).toContainEqual({ mockId: json.mockId, state: 'succeeded' });

    await service.startAgain();
    await ready();
    expect(await listed()).toEqual(history);
  });

  it('without inodes it is the same, and the refusal names them; a repeat under a key is never told that it did not run', async () => {
    await using disk = await mountTemporary('180m,nr_inodes=2000');
    await using service = await startOn(disk.path);
    const { call, client, ready, listed } = service;
    await ready();
    const before = await call('quick', KEY);
    expect(before.status).toBe(200);
    const open = call('slow');
    await eventually(() => expect(client.found).toHaveLength(2));

    await leaveFiles(disk.path, 40);
    // What a call is told of may have been looked up while there was still room.
    await eventually(async () => expect((await service.readiness()).text).toMatch(/room for [1-4]?\d more files/));
    const refused = await call('refused');
    expect(refused).toMatchObject({ status: 503, json: { code: 'queue-unavailable', mayHaveRun: false } });
    expect(refused.json.error).toMatch(
      /takes no calls \(the disk of SHARED_DIR is full: it has room for [1-4]?\d more files \(inodes\), and 64 are needed; remove files there\)/,
    );
    const repeat = await call('quick', KEY);
    expect(repeat.text === before.text || repeat.json.mayHaveRun === true, repeat.text).toBe(true);
    expect(await service.readiness()).toMatchObject({
      status: 503,
      json: { reason: expect.stringContaining('inodes') },
    });
    service.answerNow();
    expect((await open).status).toBe(200);

    await leaveFiles(disk.path, 0);
    await eventually(async () => expect((await service.readiness()).text).toMatch(/room for \d more files/));
    expect((await call('refused')).json).toMatchObject({ code: 'queue-unavailable', mayHaveRun: false });
    await makeRoom(disk.path);
    await ready();
    expect((await call('quick', KEY)).text).toBe(before.text);
    const after = await call('after');
    expect(after.status).toBe(200);
    expect(twice(client.found)).toEqual([]);
    expect(client.found.filter(({ text }) => text.includes('refused'))).toEqual([]);
    const history = await eventually(async () => {
      const all = await listed();
      for (const { json } of [before, after]) expect(all).toContainEqual({ mockId: json.mockId, state: 'succeeded' });
      return all;
    });

    await service.startAgain();
    await ready();
    expect(await listed()).toEqual(history);
    expect((await call('quick', KEY)).text).toBe(before.text);
  });
});

const KEY = { 'idempotency-key': 'once' };

/** A service on one disk, with its client: calls that are slow are answered once that is said. */
async function startOn(sharedDir: string) {
  await using starting = new AsyncDisposableStack();
  await mkdir(join(sharedDir, 'mock'));
  const port = await freePort();
  const answerNow = Promise.withResolvers<void>();
  const does: Behaviour = async (request) => {
    await request.pickUp();
    if (request.text.includes('"slow"')) await answerNow.promise;
    // Without room the answer cannot be written either.
    await request.answer(resultText(request)).catch(() => {});
  };
  const client = starting.use(await createResponder({ sharedDir, app: APP, does }));
  const start = () => startWholeProcess({ sharedDir, port, settings: SETTINGS });
  let service = await start();
  starting.defer(() => service.kill());
  // First of all: the client waits for its open calls when it ends.
  starting.defer(() => answerNow.resolve());
  const started = starting.move();
  const url = `http://127.0.0.1:${port}`;
  const executions = `${url}/rule-server/mock/executions`;
  const readiness = () => httpCall(`${url}/readyz`);
  return {
    ...{ client, readiness, answerNow: answerNow.resolve },
    execution: async (mockId: string) => (await httpCall(`${executions}/${mockId}`)).json,
    call: (what: string, headers: Record<string, string> = {}) =>
      httpCall(`${url}/rule-server/mock/execute`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ app: APP, ruleId: 1, 'the service': { what } }),
      }),
    ready: () => eventually(async () => expect((await readiness()).status).toBe(200)),
    async listed(): Promise<{ mockId: string; state: string }[]> {
      const { json } = await httpCall(executions);
      return json.items.map(({ mockId, state }: { mockId: string; state: string }) => ({ mockId, state }));
    },
    async startAgain(): Promise<void> {
      await service.kill();
      service = await start();
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

const fillIn = (sharedDir: string) => join(sharedDir, 'fill');

/** The service may make files meanwhile: then the last ones are not there any more. */
async function leaveFiles(sharedDir: string, count: number): Promise<void> {
  await mkdir(fillIn(sharedDir), { recursive: true }).catch(unless('ENOSPC'));
  const { ffree } = await statfs(sharedDir);
  for (let number = count; number < ffree; number++)
    await writeFile(join(fillIn(sharedDir), `${ffree}-${number}`), '').catch(unless('ENOSPC'));
}

/** The service may write meanwhile: then the last bytes are not there any more. */
async function leave(sharedDir: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(sharedDir);
  await writeFile(fillIn(sharedDir), Buffer.alloc(bavail * bsize - bytes)).catch(unless('ENOSPC'));
}

const makeRoom = (sharedDir: string) => rm(fillIn(sharedDir), { recursive: true });
