import { mkdir, mkdtemp, readdir, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { startWorker } from '../../src/worker/process/start.ts';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import {
  answers,
  answersAfter,
  createResponder,
  picksUpAndStaysSilent,
  resultText,
  staysSilent,
} from '../support/responder.ts';
import { captureLog, PATIENT, type Service, startService } from '../support/start-service.ts';

const hourAgo = () => new Date(Date.now() - 3_600_000);

describe('starting and stopping', () => {
  const clientOf = ({ sharedDir }: Service, does = answers()) => createResponder({ sharedDir, app: 1, does });

  it('an API that stops answers its open calls and takes no new ones', async () => {
    await using service = await startService({ apis: 2 });
    await using client = await clientOf(service, answersAfter(1000));
    const [stopping] = service.apis;
    const open = [1, 2, 3].map((ruleId) => service.execute({ app: 1, ruleId }));
    await eventually(() => expect(client.found).toHaveLength(3));
    await stopping?.stop();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200, 200]);
    await expect(service.execute({ app: 1, ruleId: 4 })).rejects.toThrow();
    client.does = answers();
    const other = service.urls[1] ?? '';
    expect((await service.execute({ app: 1, ruleId: 5 }, { url: other })).status).toBe(200);
  });

  it('a call on a connection that was open already is refused while the API stops', async () => {
    await using service = await startService();
    await using client = await clientOf(service, answersAfter(1000));
    const agent = new Agent({ keepAlive: true, maxSockets: 2 });
    await Promise.all([service.call('/healthz', { agent }), service.call('/healthz', { agent })]);
    const open = service.execute({ app: 1, ruleId: 1 }, { agent });
    await client.firstRequest();
    const stopped = service.apis[0]?.stop();
    const late = await service.execute({ app: 1, ruleId: 2 }, { agent }).catch((error: Error) => error);
    if (!(late instanceof Error))
      expect([late.status, late.json.code, late.headers['retry-after']]).toEqual([503, 'stopping', '1']);
    expect((await open).status).toBe(200);
    await stopped;
    expect(client.found).toHaveLength(1);
    agent.destroy();
  });

  it('an API whose grace time is over cuts its connections, and their executions go on', async () => {
    await using service = await startService({ settings: { SHUTDOWN_GRACE_MS: 100, RESULT_TIMEOUT_MS: 2500 } });
    await using client = await clientOf(service, staysSilent);
    const open = service.execute({ app: 1, ruleId: 1 }).catch((error: Error) => error);
    const { mockId } = await client.firstRequest();
    await service.apis[0]?.stop();
    expect(await open).toBeInstanceOf(Error);
    expect(await readdir(client.directory)).toContain(`${mockId}.json`);
    await eventually(() =>
      expect(service.log).toContainEqual(
        expect.objectContaining({ mockId, code: 'not-picked-up', msg: 'not answered' }),
      ),
    );
  });

  it('a worker that stops hands its waits to another one, and no rule runs twice', async () => {
    await using service = await startService({ workers: 2, settings: PATIENT });
    const calls = 50;
    const ended = Promise.withResolvers<void>();
    await using client = await clientOf(service, echoes({ once: ended.promise }));
    const open = Array.from({ length: calls }, (_, ruleId) => service.execute({ app: 1, ruleId: ruleId + 1 }));
    await eventually(() => expect(client.found).toHaveLength(calls));
    await service.workers[0]?.stop(); // before any of them has ended
    ended.resolve();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual(Array(calls).fill(200));
    expect(client.found).toHaveLength(calls);
  });

  it('a late answer is kept with its execution, also when the worker that waited for it is gone and its file says it is old', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 500 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: picksUpAndStaysSilent });
    const { mockId, code } = (await service.execute({ app: 1, ruleId: 1 })).json;
    expect(code).toBe('no-answer');
    await service.workers.shift()?.stop();
    const { answer, resultPath } = await client.firstRequest();
    await answer(resultText({ mockId }, { 'the service': { late: true } }));
    await utimes(resultPath, hourAgo(), hourAgo());
    await service.addWorker();
    await eventually(async () => {
      const { json } = await service.call(`/rule-server/mock/executions/${mockId}`);
      expect(json).toMatchObject({ state: 'timed-out', lateResult: { 'the service': { late: true } } });
    });
    await eventually(async () => expect(await readdir(client.directory)).toEqual([]));
  });

  it('late answers are kept also while the files of another one cannot be removed, and those are left for the sweep', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 500 }, leavesFiles: true });
    const clientIn = (app: number) =>
      createResponder({ sharedDir: service.sharedDir, app, does: picksUpAndStaysSilent });
    await using first = await clientIn(1);
    await using second = await clientIn(2);
    await Promise.all([1, 2].map((app) => service.execute({ app, ruleId: 1 })));
    const requests = [await first.firstRequest(), await second.firstRequest()];
    await first.stop(); // it could not read what is now put in its way
    await mkdir(requests[0]?.requestPath ?? '');
    for (const request of requests) await request.answer(resultText(request));
    for (const { mockId } of requests) {
      await eventually(async () => {
        const { json } = await service.call(`/rule-server/mock/executions/${mockId}`);
        expect(json.lateResult).toMatchObject({ success: true });
      });
    }
    await eventually(async () => expect(await readdir(second.directory)).toEqual([]));
    expect(service.log.map(({ msg }) => msg)).toContain(
      'Files of late results cannot be removed: they are left for the sweep',
    );
  });

  it('a worker that stops does not wait for calls that wait for a place at their client', async () => {
    await using service = await startService({ workers: 1, settings: { ...PATIENT, MAX_WAITS_PER_CLIENT: 1 } });
    const ended = Promise.withResolvers<void>();
    await using client = await clientOf(service, echoes({ once: ended.promise }));
    const first = service.execute({ app: 1, ruleId: 1 });
    await client.firstRequest();
    const second = service.execute({ app: 1, ruleId: 2 });
    await eventually(async () => expect((await service.call('/readyz')).json.active).toBe(2));
    await service.workers[0]?.stop(); // while the place is taken
    await service.addWorker();
    ended.resolve();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    expect(client.found).toHaveLength(2);
  });

  it('stopping twice is safe', async () => {
    const service = await startService();
    await Promise.all([service.apis[0]?.stop(), service.workers[0]?.stop()]);
    await Promise.all([service.apis[0]?.stop(), service.workers[0]?.stop()]);
    await service.stop();
    await service.stop();
  });
});

describe('a worker and its shared directory', () => {
  it('takes no jobs while its directory is gone, says so, and goes on when it is back', async () => {
    await using service = await startService({ settings: { QUEUE_TIMEOUT_MS: 1000 } });
    const { sharedDir } = service;
    await using client = await createResponder({ sharedDir, app: 1, does: answers(), as: 'directory' });
    await rename(sharedDir, `${sharedDir}.away`);
    await eventually(() => expect(service.workers[0]?.state().takesJobs).toBe(false));
    expect(service.workers[0]?.state().reason).toBe('SHARED_DIR cannot be used (ENOENT): create or mount it');
    const { json } = await service.execute({ app: 1, ruleId: 1 });
    expect([json.code, json.mayHaveRun]).toEqual(['no-worker', false]);
    expect(json.error).toContain('SHARED_DIR cannot be used (ENOENT): create or mount it');
    await expect(readdir(sharedDir)).rejects.toThrow('ENOENT');
    await rename(`${sharedDir}.away`, sharedDir);
    await eventually(() => expect(service.workers[0]?.state().takesJobs).toBe(true));
    await eventually(async () =>
      expect((await service.execute({ app: 1, ruleId: 2 })).json).toMatchObject({ success: true }),
    );
    expect(client.found.map(({ text }) => JSON.parse(text).ruleId)).toEqual([2]);
  });

  it('takes no jobs when another directory was mounted in its place', async () => {
    await using service = await startService({ settings: { QUEUE_TIMEOUT_MS: 1000 } });
    const { sharedDir } = service;
    await rename(sharedDir, `${sharedDir}.away`);
    await mkdir(join(sharedDir, 'mock'), { recursive: true });
    await eventually(() => expect(service.workers[0]?.state().takesJobs).toBe(false));
    expect(service.workers[0]?.state().reason).toMatch(
      /is not the directory that the workers of this queue use .* it has no identity/,
    );
    expect(await readdir(sharedDir)).toEqual(['mock']);
    await rm(`${sharedDir}.away`, { recursive: true });
  });

  it('takes no jobs with another directory than the other workers of its queue, and changes nothing in it', async () => {
    await using service = await startService();
    const elsewhere = await mkdtemp(join(tmpdir(), 'rule-server-other-'));
    await mkdir(join(elsewhere, 'mock'));
    const [backend] = service.backends;
    if (!backend) throw new Error('no backend');
    const { log } = captureLog();
    const stranger = await startWorker({ settings: service.settings, backend, sharedDir: elsewhere, log });
    expect(stranger.state()).toEqual({
      takesJobs: false,
      reason: expect.stringMatching(/is not the directory that the workers of this queue use/),
    });
    expect(await readdir(elsewhere)).toEqual(['mock']);
    await stranger.stop();
  });

  it('says so when its own folder in there cannot be used', async () => {
    const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    await writeFile(join(sharedDir, '.rule-server'), 'in the way');
    await using service = await startService({ workers: 0 });
    const [backend] = service.backends;
    if (!backend) throw new Error('no backend');
    const { log, lines } = captureLog();
    const worker = await startWorker({ settings: service.settings, backend, sharedDir, log });
    await eventually(() => expect(worker.state().reason).toMatch(/^SHARED_DIR cannot be used \(ENOTDIR/));
    const message = expect.stringMatching(/^SHARED_DIR cannot be used/);
    expect(lines.filter(({ level }) => level >= 40)).toEqual([
      expect.objectContaining({
        msg: expect.stringMatching(/^This worker takes no jobs: SHARED_DIR cannot be used/),
        err: { type: 'Error', message }, // no stack: where it was thrown tells an operator nothing
      }),
    ]);
    await worker.stop();
  });

  it.concurrent.each(['.rule-server', '.rule-server/claims', '.rule-server/answers', 'mock'])(
    'takes no jobs and sweeps nothing when %s is a link, and names it',
    async (name) => {
      await using service = await startService();
      await using elsewhere = await oldThingsElsewhere();
      const { sharedDir } = service;
      await service.workers.shift()?.stop();
      await rm(join(sharedDir, name), { recursive: true, force: true });
      await symlink(elsewhere.path, join(sharedDir, name));
      const [backend] = service.backends;
      if (!backend) throw new Error('no backend');
      const { log, lines } = captureLog();
      const worker = await startWorker({ settings: service.settings, backend, sharedDir, log });
      const { takesJobs, reason } = worker.state();
      await delay(2500); // the first sweep comes after two seconds
      expect(await elsewhere.list()).toEqual(elsewhere.before);
      expect(takesJobs).toBe(false);
      expect(reason).toMatch(new RegExp(`^SHARED_DIR/${name} is a link`));
      expect(reason).not.toContain(sharedDir);
      expect(lines.filter(({ level }) => level >= 40).map(({ msg }) => msg)).toEqual([
        expect.stringMatching(/^This worker takes no jobs: SHARED_DIR/),
      ]);
      await rm(join(sharedDir, name));
      await mkdir(join(sharedDir, name));
      if (name !== '.rule-server') await eventually(() => expect(worker.state().takesJobs).toBe(true));
      await worker.stop();
    },
  );

  it('every call ends honestly when claims cannot be written', async () => {
    await using service = await startService({ settings: { QUEUE_TIMEOUT_MS: 1500 }, logsErrors: true });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const claims = join(service.sharedDir, '.rule-server', 'claims');
    await rm(claims, { recursive: true, force: true });
    await writeFile(claims, 'in the way');
    const { status, json } = await service.execute({ app: 1, ruleId: 1 });
    expect([status, json.code, json.mayHaveRun]).toEqual([503, 'channel-unavailable', false]);
    await rm(claims);
    await eventually(async () => expect((await service.execute({ app: 1, ruleId: 2 })).status).toBe(200));
    expect(client.found).toHaveLength(1);
  });
});

/** A directory that is not shared, with everything in it that a sweep would remove from a shared one. */
async function oldThingsElsewhere() {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-elsewhere-'));
  const names = ['1', 'claims/1', 'answers/1', '7/client'];
  for (const name of names) await mkdir(join(path, name), { recursive: true });
  for (const name of names) await writeFile(join(path, name, 'precious'), '');
  const list = async () => (await readdir(path, { recursive: true })).sort();
  return {
    path,
    list,
    before: await list(),
    [Symbol.asyncDispose]: () => rm(path, { recursive: true }),
  };
}
