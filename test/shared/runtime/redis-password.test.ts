import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { withPasswordFrom } from '../../../src/shared/runtime/redis-password.ts';
import { openQueueBackend } from '../../../src/shared/store/queue-backend.ts';
import { startRedisProcess } from '../../support/redis-process.ts';

const PASSWORD = 'p@ss:word/with%everything';

describe('the password of Redis', () => {
  it.skipIf(!inject('hasRedisBinary'))('comes from a file, so that it is in no environment and no URL', async () => {
    const redis = await startRedisProcess();
    onTestFinished(() => redis.stop());
    const connection = new Redis(redis.url);
    await connection.config('SET', 'requirepass', PASSWORD);
    connection.disconnect();
    const backend = await openQueueBackend(await withPasswordFrom(await fileWith(`${PASSWORD}\n`), redis.url));
    onTestFinished(() => backend.close());
    await backend.connected;
    const queue = backend.openQueue('executions');
    onTestFinished(() => queue.close());
    expect(await queue.getWaitingCount()).toBe(0);
    expect(backend.where).not.toContain('p@ss');
  });

  it('stays in the URL where there is no file, and there is none for the embedded queue', async () => {
    expect(await withPasswordFrom(undefined, 'redis://:in-the-url@redis')).toBe('redis://:in-the-url@redis');
    expect(await withPasswordFrom('/not/read', undefined)).toBeUndefined();
  });

  it('that cannot be read stops the start, and the file is named', async () => {
    await expect(withPasswordFrom('/not/there', 'redis://redis')).rejects.toThrow(
      'REDIS_PASSWORD_FILE cannot be read: ENOENT at /not/there.',
    );
  });
});

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-password-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'password'), text);
  return join(folder, 'password');
}
