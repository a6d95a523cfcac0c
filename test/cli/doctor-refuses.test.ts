import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { unless } from '../../src/shared/runtime/errno.ts';
import { queueNames } from '../../src/shared/store/queue/queue-names.ts';
import { startWorker } from '../../src/worker/process/start.ts';
import { canMount, mountTemporary } from '../support/mounts.ts';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { runCliIn } from '../support/run-cli.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { captureLog, type Service, startService } from '../support/start-service.ts';

const KEY = 'the-key-of-ada-in-this-test';
const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('doctor, of a deployment that works apart from one thing', () => {
  let redis: RedisServer;
  let service: Service;
  let folder: string;
  beforeAll(async () => {
    redis = await startRedis(choice);
    folder = await mkdtemp(join(tmpdir(), 'rule-server-doctor-'));
    service = await startService({ queueUrl: redis.url, settings: { API_KEYS: `ada:${KEY}` } });
  });
  afterAll(async () => {
    await service?.stop();
    await redis?.stop();
    await rm(folder, { recursive: true });
  });

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

  it('fails for a keys file that is not there', async () => {
    const { exitCode, failed } = await doctor({ API_KEYS_FILE: join(folder, 'none.yaml') });
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

  it('fails for a key that the API refuses', async () => {
    const { exitCode, failed } = await doctor({}, 'a-key-that-nobody-has-here');
    expect([exitCode, failed]).toEqual([1, expect.stringMatching(/\bkey\b/)]);
  });

  it('fails for an empty directory while the workers use another one', async () => {
    const empty = join(folder, 'empty');
    await mkdir(empty, { recursive: true });
    const { exitCode, failed } = await doctor({ SHARED_DIR: empty });
    expect([exitCode, failed]).toEqual([1, expect.stringContaining('"identity"')]);
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
    const forget = () => runCliIn({ REDIS_URL: redis.url }, 'forget-directory');
    const used = await forget();
    expect([used.code, used.err]).toEqual([1, expect.stringMatching(/stop all workers first .*Nothing was/)]);
    await service.workers.shift()?.stop();
    const queue = backend.openQueue(queueNames.executions);
    await queue.add('execution', { claimBy: Date.now() + 60_000 }, { jobId: 'open' });
    await expect
      .poll(forget, { timeout: 20_000 })
      .toMatchObject({ code: 1, err: expect.stringMatching(/1 executions .* try again in/) });
    await queue.remove('open');
    await queue.close();
    expect(await forget()).toMatchObject({ code: 0, out: expect.stringContaining('is forgotten') });
    expect(await backend.directory.get()).toBeNull();
  });
});
