import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { atMost } from '../../src/shared/runtime/at-most.ts';
import { unless } from '../../src/shared/runtime/errno.ts';
import { echoes } from '../support/echoes.ts';
import { limitedRoot } from '../support/limited-root.ts';
import { canMount, mountAgain, mountTemporary, remount } from '../support/mounts.ts';
import { redisCommand } from '../support/redis-command.ts';
import { type RedisProcess, startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { type ServiceProcess, startWorkerProcess } from '../support/start-process.ts';
import { type Service, startService } from '../support/start-service.ts';

vi.setConfig({ testTimeout: 120_000 });

const CALL = { app: 1, ruleId: 1, 'the service': { number: 7 } };
/** The execution may be begun for so long that the worker that sleeps wakes in time. */
const settings = { QUEUE_TIMEOUT_MS: 60_000, RESULT_TIMEOUT_MS: 20_000, CLIENT_TIMEOUT_MS: 60_000 };
/** Longer than it takes until the lock of the worker that sleeps has lapsed and another one has the execution. */
const TOLD_WITHIN_MS = 15_000;
const FILLER = 'filler';

const run = promisify(execFile);

describe.skipIf(!canMount || !inject('hasRedisBinary'))(
  'a worker that falls asleep just before its claim dispatches nothing when it wakes, once the caller was told that it did not run (needs root)',
  () => {
    let redis: RedisProcess;
    beforeEach(async () => {
      redis = await startRedisProcess();
    });
    afterEach(() => redis.stop());

    it('another one took over while the disk was full', async () => {
      await using disk = await mountTemporary('1m');
      await withSleeper(disk.path, async (service) => {
        await fill(disk.path);
        await service.addWorker();
        return { giveBack: () => makeRoom(disk.path) };
      });
    });

    it('another one took over while the disk had no room for one more file', async () => {
      await using disk = await mountTemporary('1m,nr_inodes=200');
      await withSleeper(disk.path, async (service) => {
        await useUpNames(disk.path);
        await service.addWorker();
        return { giveBack: () => makeRoom(disk.path) };
      });
    });

    it('Redis lost its data, and its execution was added again while the disk was full', async () => {
      await using disk = await mountTemporary('1m');
      await withSleeper(disk.path, async (service) => {
        await fill(disk.path);
        await redisCommand(redis.url, 'FLUSHALL');
        await service.addWorker();
        return { giveBack: () => makeRoom(disk.path) };
      });
    });

    it('Redis came back as it was before any worker had its execution, and another one took it while the disk was full', async () => {
      await using disk = await mountTemporary('1m');
      await withSleeper(disk.path, async (service, { restoreRedis }) => {
        await fill(disk.path);
        await restoreRedis();
        await service.addWorker();
        return { giveBack: () => makeRoom(disk.path) };
      });
    });

    it('another one took over that has no right to write claims', async () => {
      await using folder = await temporaryFolder();
      await withSleeper(folder.path, async (_, { addWorker }) => {
        const minute = await minuteOf(folder.path);
        await chmod(minute, 0o555); // holds for a worker without the capabilities of root alone
        await addWorker(folder.path, limitedRoot);
        return { giveBack: () => chmod(minute, 0o755) };
      });
    });

    it('another one took over that sees the claims on a mount that is read-only', async () => {
      await using folder = await temporaryFolder();
      await using seen = await mountAgain(folder.path);
      await withSleeper(folder.path, async (_, { addWorker }) => {
        const minute = await minuteOf(seen.path);
        await run('mount', ['--bind', minute, minute]);
        await remount(minute, 'bind,ro');
        await addWorker(seen.path, []);
        return { giveBack: () => run('umount', ['--lazy', minute]) };
      });
    });

    type Tools = {
      restoreRedis(): Promise<void>;
      addWorker(sharedDir: string, under: string[]): Promise<ServiceProcess>;
    };

    /**
     * A call whose first worker sleeps between its look at the time and its claim. `takeOver`: another worker takes the call and
     * cannot write. When the caller was told something, or is still waiting, all can be written again, and the first one wakes.
     */
    async function withSleeper(
      sharedDir: string,
      takeOver: (service: Service, tools: Tools) => Promise<{ giveBack(): Promise<unknown> }>,
    ): Promise<void> {
      const queueUrl = redis.url;
      const options = { queueUrl, sharedDir, workers: 0, settings, leavesFiles: true, logsErrors: true };
      await using service = await startService(options);
      await using client = await createResponder({ sharedDir, app: 1, does: echoes() });
      const call = service.execute(CALL);
      let told = 'nothing yet';
      call.then(({ json }) => {
        if (told === 'nothing yet') told = json.mayHaveRun === false ? 'did not run' : 'something else';
      });
      const restoreRedis = await snapshotOf(redis);
      const fault = { step: 'before-claim', signal: 'SIGSTOP' } as const;
      await using sleeper = await startWorkerProcess({ queueUrl, sharedDir, settings, fault });
      await sleeper.logged('the fault happens');
      const more: ServiceProcess[] = [];
      const addWorker: Tools['addWorker'] = async (directory, under) => {
        const worker = await startWorkerProcess({ queueUrl, sharedDir: directory, settings, under });
        more.push(worker);
        return worker;
      };
      try {
        const { giveBack } = await takeOver(service, { restoreRedis, addWorker });
        await atMost(TOLD_WITHIN_MS, call);
        const toldAsleep = told;
        await giveBack();
        sleeper.wake();
        await call;
        await sleeper.logged('another worker has the execution by now, or it has ended', 30_000);
        expect((await sleeper.terminate()).code).toBe(0);
        expect([toldAsleep, client.found.length]).not.toEqual(['did not run', 1]);
        expect(client.found.length).toBeLessThan(2);
      } finally {
        for (const worker of more) await worker.kill();
      }
    }
  },
);

/** Redis as it is once an execution waits in it; gives back what brings it to that state again. */
async function snapshotOf(redis: RedisProcess): Promise<() => Promise<void>> {
  const connection = new Redis(redis.url);
  await vi.waitUntil(async () => (await connection.llen('{rule-server}:executions:wait')) === 1, { timeout: 20_000 });
  await connection.save();
  const directory = String((await connection.config('GET', 'dir'))?.at(1));
  connection.disconnect();
  await copyFile(join(directory, 'dump.rdb'), join(directory, 'kept.rdb'));
  return async () => {
    await redis.kill();
    await copyFile(join(directory, 'kept.rdb'), join(directory, 'dump.rdb'));
    await redis.start();
  };
}

/** The folder that the worker which sleeps made for its claim. */
async function minuteOf(sharedDir: string): Promise<string> {
  const claims = join(sharedDir, '.rule-server', 'claims');
  const [minute = ''] = await readdir(claims);
  return join(claims, minute);
}

async function temporaryFolder() {
  const path = await mkdtemp(join(tmpdir(), 'rule-server-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Writes until nothing more can be written. */
async function fill(directory: string): Promise<void> {
  for (const size of [65_536, 4096, 1]) {
    const piece = Buffer.alloc(size);
    while (await writeFile(join(directory, FILLER), piece, { flag: 'a' }).then(isDone, unless('ENOSPC')));
  }
}

/** Makes files until no further one can be made. */
async function useUpNames(directory: string): Promise<void> {
  await mkdir(join(directory, FILLER));
  for (let name = 0; await writeFile(join(directory, FILLER, String(name)), '').then(isDone, unless('ENOSPC')); name++);
}

const makeRoom = (directory: string) => rm(join(directory, FILLER), { recursive: true });
const isDone = () => true;
