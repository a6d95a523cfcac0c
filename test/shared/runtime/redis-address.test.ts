import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import { readRedisAddress, redisAddress } from '../../../src/shared/runtime/settings/redis-address.ts';
import { describeRedis } from '../../../src/shared/runtime/settings/redis-url.ts';
import { readSettings } from '../../../src/shared/runtime/settings/settings.ts';
import { startRedisProcess } from '../../support/redis-process.ts';

const PASSWORD = 'p@ss:word/with%everything';

describe('the password of Redis', () => {
  it.skipIf(!inject('hasRedisBinary'))('comes from a file, so that it is in no environment and no URL', async () => {
    const redis = await startRedisProcess();
    onTestFinished(() => redis.stop());
    const connection = new Redis(redis.url);
    await connection.config('SET', 'requirepass', PASSWORD);
    connection.disconnect();
    const settings = readSettings({ REDIS_URL: redis.url, REDIS_PASSWORD_FILE: await fileWith(`${PASSWORD}\n`) });
    const backend = await openQueueBackend(await readRedisAddress(settings));
    onTestFinished(() => backend.close());
    await backend.connected;
    const queue = backend.openQueue('executions');
    onTestFinished(() => queue.close());
    expect((await queue.count()).waiting).toBe(0);
    expect(backend.where).not.toContain('p@ss');
  });

  it('stays in the URL where there is no file, and there is none for the embedded queue', async () => {
    const settings = readSettings({ REDIS_URL: 'redis://:in-the%40url@redis' });
    expect(await readRedisAddress(settings)).toMatchObject({ username: undefined, password: 'in-the@url' });
    expect(await readRedisAddress(readSettings({ REDIS_PASSWORD_FILE: '/not/read' }))).toBeUndefined();
  });

  it('that cannot be read stops the start, and the file is named', async () => {
    const settings = readSettings({ REDIS_URL: 'redis://redis', REDIS_PASSWORD_FILE: '/not/there' });
    await expect(readRedisAddress(settings)).rejects.toThrow(
      'REDIS_PASSWORD_FILE cannot be read: ENOENT at /not/there.',
    );
  });
});

describe('the address of Redis', () => {
  it.each([
    ['redis://h', { kind: 'single', endpoints: [{ host: 'h', port: 6379 }], database: 0, usesTls: false }],
    ['rediss://u:p@h:6380/3', { username: 'u', password: 'p', database: 3, usesTls: true }],
    ['redis://[::1]:6390?family=6', { endpoints: [{ host: '::1', port: 6390 }], family: 6 }],
    [
      'redis+sentinel://u:p%2F%40@a:1,b/mymaster/2',
      {
        ...{ kind: 'sentinel', masterName: 'mymaster', database: 2, username: 'u', password: 'p/@' },
        endpoints: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26379 },
        ],
      },
    ],
    ['redis+sentinel://a/main', { masterName: 'main', database: 0 }],
    ['rediss+cluster://:secret@a:7000,b:7001', { kind: 'cluster', usesTls: true, password: 'secret', database: 0 }],
  ])('%s is understood', (url, expected) => {
    expect(redisAddress(url)).toMatchObject(expected);
    expect(describeRedis(redisAddress(url))).not.toMatch(/secret|p%2F/);
  });

  it.each([
    'http://h',
    'redis://',
    'redis://a,b',
    'redis://h:0',
    'redis://h:65536',
    'redis://h/x',
    'redis://h/0/1',
    'redis://h?timeout=1',
    'redis+sentinel://a:26379',
    'redis+sentinel://a:26379/my master',
    'redis+cluster://a/1',
    'redis+proxy://a',
  ])('%s is refused by name', (REDIS_URL) => {
    expect(() => readSettings({ REDIS_URL })).toThrow(/REDIS_URL must be redis:\/\/host:6379, redis\+sentinel:/);
  });

  it('has the prefix of its deployment, as one hash tag', async () => {
    const prefixOf = async (QUEUE_PREFIX: string) =>
      (await readRedisAddress(readSettings({ REDIS_URL: 'redis://h', QUEUE_PREFIX })))?.prefix;
    expect([await prefixOf(''), await prefixOf('orders'), await prefixOf('{orders}')]).toEqual([
      '{rule-server}',
      '{orders}',
      '{orders}',
    ]);
    for (const bad of ['a:b', '{a', 'a b', 'a{b}'])
      expect(() => readSettings({ QUEUE_PREFIX: bad })).toThrow('QUEUE_PREFIX must be 1 to 64 letters');
  });

  it('needs rediss for certificates, and a certificate its key', () => {
    expect(() => readSettings({ REDIS_URL: 'redis://h', REDIS_CA_FILE: '/ca' })).toThrow(
      'REDIS_URL must begin with rediss',
    );
    expect(() => readSettings({ REDIS_URL: 'rediss://h', REDIS_CERT_FILE: '/c' })).toThrow(
      'REDIS_KEY_FILE belong together',
    );
  });
});

async function fileWith(text: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'rule-server-password-'));
  await writeFile(join(folder, 'password'), text);
  return join(folder, 'password');
}
