import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { startWorker } from '../../src/worker/process/start.ts';
import { eventually } from '../support/eventually.ts';
import { canMount, mountTemporary } from '../support/mounts.ts';
import { answers, createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { captureLog, type Service, startService } from '../support/start-service.ts';

/** A call whose refusal cannot be written ends with its time in the queue. */
const SHORT = { CLIENT_TIMEOUT_MS: 1500, RESULT_TIMEOUT_MS: 2500, QUEUE_TIMEOUT_MS: 2000 };
const NOT_THE_SAME = /^SHARED_DIR is not the directory that the workers of this queue use/;

describe('a worker that starts on an empty directory', () => {
  it('makes it its own where the queue knows of none, and says so', async () => {
    await using service = await startService();
    expect(service.log.map(({ msg }) => msg)).toContain(
      'SHARED_DIR had no identity and the queue store knew of none: a new one was made',
    );
  });

  it('takes no jobs while the queue knows another one, tells everybody why, and goes on when that is mounted', async () => {
    await using service = await startService({ settings: { QUEUE_TIMEOUT_MS: 1000 } });
    const { sharedDir } = service;
    await using client = await createResponder({ sharedDir, app: 1, does: answers(), as: 'directory' });
    await service.workers.shift()?.stop();
    await rename(sharedDir, `${sharedDir}.away`);
    await mkdir(sharedDir);
    await using worker = await workerOf(service);
    expect(worker.state()).toEqual({ takesJobs: false, reason: expect.stringMatching(NOT_THE_SAME) });
    expect(worker.lines.filter(({ level }) => level === 40).map(({ msg }) => msg)).toEqual([
      expect.stringContaining('is not the directory that the workers of this queue use'),
    ]);
    const problems = [expect.stringMatching(NOT_THE_SAME)];
    await eventually(async () => expect((await service.call('/readyz')).json).toMatchObject({ workers: 0, problems }));
    const refused = await service.execute({ app: 1, ruleId: 1 });
    expect([refused.status, refused.json.code, refused.json.mayHaveRun]).toEqual([503, 'no-worker', false]);
    expect(refused.json.error).toContain('it has no identity, like an empty mount point');
    const asked = await service.call('/rule-server/mock/clients?app=1');
    expect([asked.status, asked.json.error]).toEqual([503, expect.stringMatching(NOT_THE_SAME)]);
    expect(await readdir(sharedDir)).toEqual([]);

    await rm(sharedDir, { recursive: true });
    await rename(`${sharedDir}.away`, sharedDir);
    await eventually(() => expect(worker.state()).toEqual({ takesJobs: true, reason: null }));
    expect((await service.execute({ app: 1, ruleId: 2 })).json).toMatchObject({ success: true });
    expect(client.found).toHaveLength(1);
  });

  it('makes it its own once the queue was told to forget the other one; a worker that used that one follows', async () => {
    await using service = await startService();
    const { sharedDir } = service;
    const [first, backend] = [service.workers[0], service.backends[0]];
    await rename(sharedDir, `${sharedDir}.lost`);
    await mkdir(join(sharedDir, 'mock'), { recursive: true });
    await eventually(() => expect(first?.state().reason).toMatch(NOT_THE_SAME));
    await backend?.directory.forget();
    await using worker = await workerOf(service);
    expect(worker.state().takesJobs).toBe(true);
    await eventually(() => expect(first?.state().takesJobs).toBe(true));
    await rm(`${sharedDir}.lost`, { recursive: true });
  });

  it('a call is told that no app has a client there, and that either side may have the wrong directory', async () => {
    await using service = await startService();
    const { json } = await service.execute({ app: 42, ruleId: 1 });
    expect(json).toMatchObject({ code: 'no-client', reason: 'no-clients' });
    await mkdir(join(service.sharedDir, 'mock/7/somebody'), { recursive: true });
    const { json: other } = await service.execute({ app: 42, ruleId: 1 });
    expect(other).toMatchObject({ code: 'no-client', reason: 'no-client-online' });
  });
});

describe.skipIf(!canMount)('a full shared directory (needs root)', () => {
  describe('is told of', () => {
    it.concurrent.each([
      { what: 'bytes', size: '4m', fill: fillBytes },
      { what: 'inodes', size: '4m,nr_inodes=200', fill: fillInodes },
    ])('by every answer, the log and the probes: no $what are left', async ({ what, size, fill }) => {
      await using disk = await mountTemporary(size);
      const sharedDir = disk.path;
      await using service = await startService({ sharedDir, settings: SHORT });
      await using client = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
      await eventually(async () => expect(await stateOf(service)).toBe('online'));
      const open = service.execute({ app: 1, ruleId: 1 });
      await client.firstRequest();
      await client.stopBeating(); // as one whose heartbeats fail
      const free = await fill(sharedDir);
      const full = `SHARED_DIR is full: no ${what} are left`;
      await eventually(() => expect(service.workers[0]?.state()).toEqual({ takesJobs: true, reason: full }));
      expect((await open).json).toMatchObject({ code: 'no-answer', error: expect.stringContaining('is full') });
      await eventually(async () => expect((await service.call('/readyz')).json.problems).toEqual([full]));
      await eventually(async () => expect(await stateOf(service)).toBe('offline'));
      await fill(sharedDir); // again: the files of the call that ended are gone
      await eventually(() => expect(service.workers[0]?.state()).toEqual({ takesJobs: true, reason: full }));
      const refused = ['all', `address:${client.address}`].map((target) =>
        service.execute({ app: 1, ruleId: 1, target }),
      );
      for (const { json } of await Promise.all(refused)) {
        expect(json).toMatchObject({ code: 'channel-unavailable', mayHaveRun: false });
        expect(json.error).toMatch(/is full/); // in a new minute: that the folder of its claims cannot be made
      }
      expect(service.log.filter(({ level }) => level === 40).map(({ msg }) => msg)).toContainEqual(
        expect.stringMatching(/^The shared directory is full/),
      );
      await free();
      await eventually(() => expect(service.workers[0]?.state()).toEqual({ takesJobs: true, reason: null }));
    });
  });
});

/** A worker on the directory and the queue of a service, which may not take jobs. */
async function workerOf({ settings, backends, sharedDir }: Service) {
  const [backend] = backends;
  if (!backend) throw new Error('no backend');
  const { log, lines } = captureLog();
  const worker = await startWorker({ settings, backend, sharedDir, log });
  return { ...worker, lines, [Symbol.asyncDispose]: () => worker.stop() };
}

async function stateOf(service: Service): Promise<string | undefined> {
  return (await service.call('/rule-server/mock/clients?app=1')).json.items[0]?.state;
}

async function fillBytes(sharedDir: string): Promise<() => Promise<void>> {
  const folder = await fillingOf(sharedDir);
  const { bavail, bsize } = await statfs(sharedDir);
  await writeFile(join(folder, randomUUID()), Buffer.alloc((bavail + 1) * bsize)).catch(unless('ENOSPC'));
  return () => rm(folder, { recursive: true });
}

async function fillInodes(sharedDir: string): Promise<() => Promise<void>> {
  const folder = await fillingOf(sharedDir);
  const { ffree } = await statfs(sharedDir);
  for (let file = 0; file <= ffree; file++) await writeFile(join(folder, randomUUID()), '').catch(unless('ENOSPC'));
  return () => rm(folder, { recursive: true });
}

async function fillingOf(sharedDir: string): Promise<string> {
  const folder = join(sharedDir, 'fill');
  await mkdir(folder, { recursive: true });
  return folder;
}
