import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { startRedis } from '../support/redis.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { runDoctor } from '../support/run-doctor.ts';
import { type Service, startService } from '../support/start-service.ts';

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
});
