import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { queueNames } from '../../src/shared/contract/queue-names.ts';
import { unless } from '../../src/shared/runtime/errno.ts';
import { startWorker } from '../../src/worker/process/start.ts';
import { eventually } from '../support/eventually.ts';
import { canMount, mountTemporary } from '../support/mounts.ts';
import { startRedis } from '../support/redis.ts';
import { redisCommand } from '../support/redis-command.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { createResponder, staysSilent } from '../support/responder.ts';
import { runCliWith } from '../support/run-cli.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { captureLog, type Service, startService } from '../support/start-service.ts';
import { canActAsOthers } from '../support/stranger.ts';

const run = promisify(execFile);
const KEY = 'the-key-of-ada-in-this-test';
const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('doctor, of a deployment that works apart from one thing', () => {
  let redis: RedisServer;
  let service: Service;
  let folder: string;
  beforeAll(async () => {
    redis = await startRedis(choice);
    folder = await mkdtemp(join(tmpdir(), 'rule-server-doctor-'));
    service = await startService({
      queueUrl: redis.url,
      settings: { API_KEYS: `ada:${KEY}`, RESULT_TIMEOUT_MS: 1000 },
    });
  });
  afterAll(async () => {
    await service?.stop();
    await redis?.stop();
  });

  const configure = (policy: string) => redisCommand(redis.url, 'CONFIG', 'SET', 'maxmemory-policy', policy);
  const doctor = (more: Record<string, string> = {}, key = KEY) =>
    runDoctor({ REDIS_URL: redis.url, SHARED_DIR: service.sharedDir, ...more }, ['--url', service.url, '--key', key]);

  it('fails for nothing as long as everything is right', async () => {
    expect(await doctor()).toMatchObject({ exitCode: 0, failed: '' });
  });

  it('fails for a keys file that is no YAML, as the start does', async () => {
    const path = join(folder, 'keys.yaml');
    await writeFile(path, 'keys: [{ name: ada\n  - x');
    const { exitCode, failed } = await doctor({ API_KEYS_FILE: path });
    expect([exitCode, failed]).toEqual([1, expect.stringContaining('API_KEYS_FILE')]);
  });

  it('fails for an audit log in a folder that is not there', async () => {
    const { exitCode, failed } = await doctor({ AUDIT_LOG: join(folder, 'missing/audit.jsonl') });
    expect([exitCode, failed]).toEqual([1, expect.stringContaining('AUDIT_LOG')]);
  });

  it('names a setting that is misspelt, and the one that was meant', async () => {
    const { warned, failed } = await doctor({ QUEUE_PREFX: 'orders' });
    expect(warned + failed).toMatch(/QUEUE_PREFX.*QUEUE_PREFIX/);
  });

  it('looks at no directory with the settings of an API', async () => {
    expect(await doctor({ SHARED_DIR: '' })).toMatchObject({ exitCode: 0, failed: '' });
  });

  it('names one fault for a Redis that would forget jobs', async () => {
    await configure('allkeys-lru');
    try {
      const { exitCode, failed } = await doctor();
      expect([exitCode, failed]).toEqual([1, expect.stringMatching(/^[^\n]*allkeys-lru[^\n]*$/)]);
    } finally {
      await configure('noeviction');
      await eventually(async () => expect(await doctor()).toMatchObject({ exitCode: 0 }));
    }
  });

  describe('the directory of a client', () => {
    const app = 42;
    const path = (...parts: string[]) => join(service.sharedDir, ...parts);
    const clientAt = (address: string) =>
      createResponder({ sharedDir: service.sharedDir, app, address, does: staysSilent });

    it('that is no directory: fails while its client is online', async () => {
      await using client = await clientAt('linked');
      await client.removeDirectory();
      await symlink(folder, path('mock', String(app), 'linked'));
      const { exitCode, failed } = await doctor();
      expect([exitCode, failed]).toEqual([1, expect.stringContaining(`mock/${app}/linked is a link`)]);
      await client.unregister();
      expect(await doctor()).toMatchObject({ exitCode: 0, warned: expect.stringContaining(`mock/${app}/linked`) });
      await rm(path('mock', String(app), 'linked'));
    });

    it.skipIf(!canActAsOthers)('that this user may not write: fails (needs root)', async () => {
      await using client = await clientAt('closed');
      await chmod(service.sharedDir, 0o755);
      const environment = { REDIS_URL: redis.url, SHARED_DIR: service.sharedDir, PATH: process.env.PATH };
      const bin = join(import.meta.dirname, '../../bin/rule-server.js');
      const asStranger = { env: environment, uid: 54_321, gid: 54_321, cwd: '/' };
      const doctor = run(process.execPath, [bin, 'doctor', '--json', '--url', service.url], asStranger);
      const { stdout } = await doctor.catch((error: { stdout: string }) => error);
      await chmod(service.sharedDir, 0o700);
      expect(stdout).toContain(`mock/${app}/closed may not be written by this user (EACCES)`);
      await client.unregister();
    });

    it('of one that picks up nothing: warns of it', async () => {
      await using client = await clientAt('dead');
      const headers = { authorization: `Bearer ${KEY}` };
      expect((await service.execute({ app, ruleId: 1 }, { headers })).json.code).toBe('not-picked-up');
      expect((await doctor()).warned).toMatch(/pick up no request: dead of app 42 since \d{4}-/);
      await client.unregister();
    });
  });

  it('fails for a key that the API refuses', async () => {
    const { exitCode, failed } = await doctor({}, 'a-key-that-nobody-has-here');
    expect([exitCode, failed]).toEqual([1, expect.stringMatching(/\bkey\b/)]);
  });

  it('tells what a worker says that takes no jobs, and which one', async () => {
    const [backend] = service.backends;
    if (!backend) throw new Error('no backend');
    const { log } = captureLog();
    const worker = await startWorker({ settings: service.settings, backend, sharedDir: folder, log });
    onTestFinished(() => worker.stop());
    const { exitCode, failed } = await doctor();
    expect([exitCode, failed]).toEqual([
      1,
      expect.stringContaining(`-${process.pid}: SHARED_DIR is not the directory`),
    ]);
  });

  it.skipIf(!canMount).each([
    { what: 'bytes', options: 'size=64k', fill: 1 },
    { what: 'inodes', options: 'size=1m,nr_inodes=6', fill: 10 },
  ])('fails for a directory where no $what are left, and still tells all the rest', async ({ what, options, fill }) => {
    await using disk = await mountTemporary(options.replace('size=', ''));
    await mkdir(join(disk.path, 'mock'));
    for (let file = 0; file < fill; file++)
      await writeFile(join(disk.path, `${file}`), Buffer.alloc(fill === 1 ? 100_000 : 1)).catch(unless('ENOSPC'));
    const { exitCode, failed } = await doctor({ SHARED_DIR: disk.path });
    expect([exitCode, failed]).toEqual([1, expect.stringContaining(`is full: no ${what} are left`)]);
    expect(failed).toContain('"identity"');
  });

  it('a directory is forgotten only once no worker takes executions in it', async () => {
    const [backend] = service.backends;
    if (!backend) throw new Error('no backend');
    const forget = () => runCliWith({ environment: { REDIS_URL: redis.url } }, 'forget-directory');
    const used = await forget();
    expect([used.code, used.err]).toEqual([1, expect.stringMatching(/stop all workers first .*Nothing was/)]);
    await service.workers.shift()?.stop();
    const queue = backend.openQueue(queueNames.executions);
    const head = { claimBy: Date.now() + 60_000 };
    await queue.add('open', head, { head: JSON.stringify(head) });
    await expect
      .poll(forget, { timeout: 60_000 })
      .toMatchObject({ code: 1, err: expect.stringMatching(/1 executions .* try again in/) });
    await queue.erase('open');
    await queue.close();
    expect(await forget()).toMatchObject({ code: 0, out: expect.stringContaining('is forgotten') });
    expect(await backend.directory.get()).toBeNull();
  });
});
