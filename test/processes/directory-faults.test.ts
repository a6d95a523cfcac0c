import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, inject, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import {
  canLimitInotify,
  canMount,
  canMountDeaf,
  mountAgain,
  mountBound,
  mountDeaf,
  mountTemporary,
  remount,
} from '../support/mounts.ts';
import { privateLeftovers } from '../support/private-leftovers.ts';
import { startRedis } from '../support/redis.ts';
import { createResponder } from '../support/responder.ts';
import { startWorkerProcess } from '../support/start-process.ts';
import { startProcesses } from '../support/start-processes.ts';
import { startService } from '../support/start-service.ts';
import { twice } from '../support/steady-calls.ts';
import { sweepLater } from '../support/sweep-later.ts';

const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };
/** Refused calls say so at once, but a worker may need a moment to see that its directory is well again. */
const PATIENT = { QUEUE_TIMEOUT_MS: 8000, RESULT_TIMEOUT_MS: 60_000, CLIENT_TIMEOUT_MS: 30_000 };

describe.skipIf(!canMount)('a shared directory (mounted: needs root)', () => {
  it('that is full: calls are refused, open ones get their answers, and it goes on once there is room', async () => {
    await using disk = await mountTemporary('1m');
    await using service = await startService({ sharedDir: disk.path, settings: PATIENT, logsErrors: true });
    const room = Promise.withResolvers<void>();
    await using client = await createResponder({ sharedDir: disk.path, app: 1, does: echoes({ once: room.promise }) });
    const open = service.execute(CALL);
    await eventually(async () => expect(await readdir(client.directory)).toEqual([expect.stringMatching(/\.open$/)]));
    const filler = join(disk.path, 'filler');
    await fill(filler);
    expectRefused(await service.execute(CALL), /the disk is full\. It did not run\.$/);
    expect(client.found).toHaveLength(1);

    await rm(filler);
    room.resolve();
    expectAnswered(await open);
    await eventually(async () => expectAnswered(await service.execute(CALL)));
    expect(twice(client.found)).toEqual([]);
  });

  it('that is full while a client answers: its answer is taken although nothing can be written any more', async () => {
    await using disk = await mountTemporary('1m');
    await using service = await startService({ sharedDir: disk.path, settings: PATIENT, logsErrors: true });
    await using _client = await createResponder({
      sharedDir: disk.path,
      app: 1,
      async does(request) {
        await echoes()(request, _client);
        await fill(join(disk.path, 'filler'));
      },
    });
    expectAnswered(await service.execute(CALL));
    await rm(join(disk.path, 'filler'), { force: true });
  });

  it('that becomes read-only: calls are refused, and it goes on once it can be written again', async () => {
    await using disk = await mountTemporary('1m');
    await using service = await startService({ sharedDir: disk.path, settings: PATIENT, logsErrors: true });
    await using client = await createResponder({
      sharedDir: disk.path,
      app: 1,
      does: echoes(),
      beatEveryMs: 3_600_000,
    });
    expectAnswered(await service.execute(CALL));
    await eventually(async () => expect(await readdir(client.directory)).toEqual([]));
    await remount(disk.path, 'ro');
    const refused = await service.execute(CALL); // by the worker, or, once it takes no jobs, by the API
    expect([refused.status, refused.json.mayHaveRun]).toEqual([503, false]);
    await eventually(() =>
      expect(service.workers[0]?.state().reason).toMatch(/cannot be written by this worker \(EROFS\)/),
    );
    await remount(disk.path, 'rw');
    await client.beat();
    await eventually(async () => expectAnswered(await service.execute(CALL)));
    expect(twice(client.found)).toEqual([]);
  });

  it.each(['at once', 'once the worker sees it'])(
    'that is unmounted under an open call (answered %s): nothing is done to what is in its place, and the answer comes',
    async (answered) => {
      await using disk = await mountBound();
      await using service = await startService({ sharedDir: disk.path, settings: PATIENT, logsErrors: true });
      const back = Promise.withResolvers<void>();
      await using client = await createResponder({
        sharedDir: disk.behind,
        app: 1,
        does: echoes({ once: back.promise }),
      });
      const open = service.execute(CALL);
      await client.firstRequest();
      await disk.unmount();
      if (answered === 'at once') back.resolve();
      await eventually(() => expect(service.workers[0]?.state().takesJobs).toBe(false));
      back.resolve();
      const { status, json } = await service.execute(CALL);
      expect([status, json.mayHaveRun]).toEqual([503, false]);
      expect(await readdir(disk.path)).toEqual([]);
      await disk.mount();
      expectAnswered(await open);
      await eventually(async () => expectAnswered(await service.execute(CALL)));
      expect(twice(client.found)).toEqual([]);
      // An answer that was read through the open handle of its directory may have ended its job before the directory was back.
      await sweepLater(disk.path);
      expect(await service.leftovers()).toEqual([]);
    },
  );
});

describe.skipIf(!canMountDeaf)(
  'a shared directory that tells of no changes, as a network file system does (needs root and bindfs)',
  () => {
    it('answers are noticed by the listing, and a request that was picked up is seen to be', async () => {
      await using disk = await mountDeaf();
      await mkdir(join(disk.behind, 'mock'));
      const settings = { ...PATIENT, POLL_INTERVAL_MS: 300 };
      await using service = await startService({ sharedDir: disk.path, settings });
      await using client = await createResponder({ sharedDir: disk.behind, app: 1, does: echoes({ afterMs: 1000 }) });
      const answers = await Promise.all(Array.from({ length: 20 }, () => service.execute(CALL)));
      for (const answer of answers) expectAnswered(answer);
      const { mockId } = answers[0]?.json ?? {};
      await eventually(async () => {
        const { history } = (await service.call(`/rule-server/mock/executions/${mockId}`)).json;
        expect(history.map(({ state }: { state: string }) => state)).toContain('picked-up');
      });
      expect(twice(client.found)).toEqual([]);
    });
  },
);

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable' || !canMount)(
  'a worker that may not write the directory (needs root)',
  () => {
    it('takes no jobs and says so, from its start on and as soon as it may not any more: another one answers every call', async () => {
      const redis = await startRedis(choice);
      try {
        await using processes = await startProcesses({ queueUrl: redis.url });
        const { api, sharedDir } = processes;
        await using client = await createResponder({ sharedDir, app: 1, does: echoes() });
        expectAnswered(await api.execute(CALL)); // now there is all that a worker writes
        await using mount = await mountAgain(sharedDir);
        await remount(mount.path, 'bind,ro');
        const WORKER_PORT = await freePort();
        await using worker = await startWorkerProcess({
          queueUrl: redis.url,
          sharedDir: mount.path,
          settings: { WORKER_PORT },
          untilReady: false,
        });
        const readiness = () => httpCall(`http://127.0.0.1:${WORKER_PORT}/readyz`);
        const refused = { status: 503, reason: expect.stringMatching(/cannot be written by this worker \(EROFS\)/) };
        const seen = async () => (({ status, json }) => ({ status, reason: json.reason }))(await readiness());
        await eventually(async () => expect(await seen()).toEqual(refused));
        const fifty = () => Promise.all(Array.from({ length: 50 }, () => api.execute(CALL)));
        for (const answer of await fifty()) expectAnswered(answer);

        await remount(mount.path, 'bind,rw');
        await worker.logged('this worker takes jobs');
        await remount(mount.path, 'bind,ro');
        await eventually(async () => expect(await seen()).toEqual(refused));
        for (const answer of await fifty()) expectAnswered(answer);
        expect(twice(client.found)).toEqual([]);
      } finally {
        await redis.stop();
      }
    });
  },
);

describe.skipIf(choice.kind === 'unavailable' || !canLimitInotify)(
  'a worker that may not watch directories (needs user namespaces)',
  () => {
    it.each(['max_inotify_instances', 'max_inotify_watches'])(
      'because %s is used up: it says so once, and answers come all the same',
      async (limit) => {
        const redis = await startRedis(choice);
        try {
          await using processes = await startProcesses({ queueUrl: redis.url, workers: 0 });
          const { api, sharedDir } = processes;
          const exhausted = `echo 0 > /proc/sys/user/${limit}; exec "$@"`;
          const under = ['unshare', '--user', '--map-root-user', 'sh', '-c', exhausted, 'sh'];
          const worker = await processes.addWorker({ under });
          await using client = await createResponder({ sharedDir, app: 1, does: echoes() });
          await using other = await createResponder({ sharedDir, app: 2, does: echoes() });
          const calls = [1, 2, 1, 2, 1, 2].map((app) => api.execute({ ...CALL, app }));
          for (const answer of await Promise.all(calls)) expectAnswered(answer);
          expect(twice([...client.found, ...other.found])).toEqual([]);
          const warnings = worker.log.filter(
            ({ level, msg }) => level >= 40 && !/^SHARED_DIR had no identity/.test(msg),
          );
          expect(warnings.map(({ msg }) => msg)).toEqual([
            expect.stringMatching(/^Directories cannot be watched: .*inotify limits/),
          ]);
          expect(worker.noise).toEqual([]);
          await sweepLater(sharedDir);
          expect(await processes.leftovers()).toEqual([]);
          expect(await privateLeftovers(sharedDir)).toEqual([]);
        } finally {
          await redis.stop();
        }
      },
    );
  },
);

function expectAnswered({ status, json }: Answer): void {
  expect([status, json.success, json['the service']]).toEqual([200, true, CALL['the service']]);
}

function expectRefused({ status, json }: Answer, sentence: RegExp): void {
  expect([status, json.code, json.mayHaveRun]).toEqual([503, 'channel-unavailable', false]);
  expect(json.error).toMatch(sentence);
}

/** Writes until nothing more can be written. */
async function fill(path: string): Promise<void> {
  for (const size of [65_536, 4096, 1]) {
    const piece = Buffer.alloc(size);
    while (
      await writeFile(path, piece, { flag: 'a' }).then(
        () => true,
        () => false,
      )
    );
  }
}
