import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { createLogger } from '../../../src/shared/runtime/telemetry/logger.ts';
import { startRedis } from '../../support/redis.ts';
import type { RedisServer } from '../../support/redis-server.ts';

const SECRET = 'secret-4711';

function logged(error: unknown): { line: string; err: Record<string, unknown> } {
  let line = '';
  const write = (text: string) => {
    line += text;
  };
  createLogger({ level: 'debug', role: 'test' }, { write }).warn({ err: error }, 'something failed');
  return { line, err: JSON.parse(line).err };
}

// Address 0 of a process cannot be written (EIO), like a terminal that was closed; /dev/full is a disk without room.
describe.skipIf(process.platform !== 'linux')('a log that cannot be written', () => {
  it.each(['/proc/self/mem', '/dev/full'])('to %s does not stop the process', async (path) => {
    const runtime = new URL('../../../src/shared/runtime', import.meta.url);
    const script = `
      const { prepareProcess } = await import('${runtime}/prepare-process.ts');
      const { createLogger } = await import('${runtime}/telemetry/logger.ts');
      prepareProcess();
      const log = createLogger({ level: 'info', role: 'test' });
      for (const line of ['one', 'two', 'three']) {
        log.info(line);
        await new Promise(setImmediate);
      }
      process.stderr.write('went on');`;
    await using output = await open(path, 'r+');
    const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
      stdio: ['ignore', output.fd, 'pipe'],
      encoding: 'utf8',
      timeout: 20_000,
      killSignal: 'SIGKILL',
    });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/went on$/)]);
  });
});

it('a log is back as soon as there is room again', async () => {
  const written: string[] = [];
  using _write = vi.spyOn(fs, 'write').mockImplementation(((_fd: number, line: string, ...rest: unknown[]) => {
    const done = rest.at(-1) as (error: Error | null, length?: number) => void;
    const isFull = /two|three/.test(line);
    if (!isFull) written.push(JSON.parse(line).msg);
    setImmediate(() => done(isFull ? Object.assign(new Error(), { code: 'ENOSPC' }) : null, Buffer.byteLength(line)));
  }) as typeof fs.write);
  const log = createLogger({ level: 'info', role: 'test' });
  for (const line of ['one', 'two', 'three', 'four']) {
    log.info(line);
    await delay(5);
  }
  expect(written).toEqual(['one', 'four']);
});

describe('an error in the log', () => {
  it('is its type, message, stack, code and cause, and nothing else', () => {
    const cause = Object.assign(new TypeError('below'), { code: 'ERR_BELOW', input: SECRET });
    const error = Object.assign(new Error('above', { cause }), { command: { name: 'set', args: [SECRET] } });
    const { line, err } = logged(error);
    expect(line).not.toContain(SECRET);
    expect(err).toEqual({
      type: 'Error',
      message: 'above',
      stack: error.stack,
      cause: { type: 'TypeError', message: 'below', stack: cause.stack, code: 'ERR_BELOW' },
    });
  });

  it('ends although its causes go round in a circle, and an aggregate hides nothing in its parts', () => {
    const error = new AggregateError([new Error(SECRET)], 'all of them failed');
    error.cause = new Error('round', { cause: error });
    expect(logged(error).line).not.toContain(SECRET);
  });

  it('that is no error is its text', () => {
    expect(logged('just words').err).toEqual({ type: 'string', message: 'just words' });
    expect(logged({ password: SECRET }).line).not.toContain(SECRET);
  });

  it('shows what a terminal would obey as escapes, and is still JSON', () => {
    const { line, err } = logged(new Error('\u001b[31mred\u009b31m \u202etxt.exe\u2066 \u2028next'));
    expect(line).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
    expect(err.message).toContain('\u202etxt.exe');
  });
});

const choice = inject('redis');
describe.skipIf(choice.kind === 'unavailable')('an error of Redis in the log', () => {
  let server: RedisServer;
  let admin: Redis;
  let redis: Redis;
  beforeAll(async () => {
    server = await startRedis(choice);
    admin = new Redis(server.url);
  });
  beforeEach(async () => {
    redis = new Redis(server.url, { maxRetriesPerRequest: 0, retryStrategy: () => null });
    redis.on('error', () => {});
    await redis.set('text', 'x');
    return () => redis.disconnect();
  });
  afterAll(async () => {
    admin?.disconnect();
    await server?.stop();
  });

  const kinds: [string, string, () => Promise<unknown>][] = [
    [
      'memory is full',
      'OOM',
      async () => {
        await admin.config('SET', 'maxmemory', '1');
        return redis.set('input', SECRET).finally(() => admin.config('SET', 'maxmemory', '0'));
      },
    ],
    [
      'the password is wrong',
      'WRONGPASS',
      async () => {
        await admin.call('ACL', 'SETUSER', 'named', 'on', '>another');
        return redis.auth('named', SECRET);
      },
    ],
    [
      'it may not do that',
      'NOPERM',
      async () => {
        await admin.call('ACL', 'SETUSER', 'weak', 'on', '>weak', '+auth', '-set');
        await redis.auth('weak', 'weak');
        return redis.set('input', SECRET);
      },
    ],
    [
      'it is a replica',
      'READONLY',
      async () => {
        await admin.replicaof('127.0.0.1', '1');
        return redis.set('input', SECRET).finally(() => admin.replicaof('NO', 'ONE'));
      },
    ],
    ['the key holds something else', 'WRONGTYPE', () => redis.lpush('text', SECRET)],
    ['there is no such command', 'unknown command', () => redis.call('nonsense', SECRET)],
    [
      'a script calls what there is not',
      'Unknown Redis command',
      () => redis.eval("return redis.call('nonsense', ARGV[1])", 0, SECRET),
    ],
    ['a script is unknown', 'NOSCRIPT', () => redis.evalsha('0'.repeat(40), 0, SECRET)],
    [
      'a transaction is refused',
      'EXECABORT',
      async () => {
        const replies = redis.multi().call('nonsense', SECRET).set('input', SECRET).exec();
        await replies;
      },
    ],
    [
      'a reply takes too long',
      'timed out',
      async () => {
        await admin.call('CLIENT', 'PAUSE', '300000', 'WRITE');
        redis.options.commandTimeout = 50;
        return redis.set('input', SECRET).finally(() => admin.call('CLIENT', 'UNPAUSE'));
      },
    ],
    [
      'the connection is closed',
      'closed',
      () => {
        redis.disconnect();
        return redis.set('input', SECRET);
      },
    ],
    [
      'the connection is lost',
      '',
      async () => {
        const answer = redis.blpop(SECRET, 0);
        answer.catch(() => {});
        await admin.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
        return answer;
      },
    ],
    [
      'nobody listens',
      'ECONNREFUSED',
      async () => {
        const options = { lazyConnect: true, retryStrategy: () => null };
        const nowhere = new Redis(`redis://:${SECRET}@127.0.0.1:1`, options);
        const failed = once(nowhere, 'error');
        await nowhere.connect().catch(() => {});
        throw (await failed)[0];
      },
    ],
  ];

  it.each(kinds)('when %s (%s) tells nothing of what was sent', async (_when, words, fail) => {
    const error = await fail().then(
      () => undefined,
      (reason: unknown) => reason,
    );
    const { line, err } = logged(error);
    expect(err.type).toMatch(/Error$/);
    expect(`${err.message} ${err.code}`).toContain(words);
    expect(line).not.toContain(SECRET);
    expect(Object.keys(err).filter((key) => !['type', 'message', 'stack', 'code', 'cause'].includes(key))).toEqual([]);
  });
});
