import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { callsAt } from '../support/calls-at.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { answersAfter, createResponder, type Responder } from '../support/responder.ts';
import { startWholeProcess } from '../support/start-process.ts';

const APP = 7;

describe.skipIf(!inject('hasRedisBinary'))('moving from the store on disk to Redis', () => {
  it('takes the keys along: a repeat runs nothing, and one that had not ended is unknown', async () => {
    const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    await mkdir(join(sharedDir, 'mock'));
    const port = await freePort();
    const { url, run, listens } = callsAt(() => port, APP);
    const move = (redisUrl: string) =>
      promisify(execFile)(process.execPath, ['bin/rule-server.js', 'move-keys', '--shared-dir', sharedDir], {
        env: { ...process.env, REDIS_URL: redisUrl },
      });
    const redis = await startRedisProcess();
    let responder: Responder = await createResponder({ sharedDir, app: APP, does: answersAfter(5) });
    try {
      const settings = { EMBEDDED_STORE: 'disk', RESULT_TIMEOUT_MS: 30_000, LOG_LEVEL: 'info' };
      const before = await startWholeProcess({ sharedDir, port, settings });
      await listens();
      const ended = await run(1, { 'idempotency-key': 'ended' });
      await responder.stop();
      run(2, { 'idempotency-key': 'open' }).catch(() => {});
      await eventually(async () => expect((await httpCall(url('executions?limit=10'))).json.items).toHaveLength(2));
      await expect(move(redis.url)).rejects.toMatchObject({
        code: 2,
        stderr: expect.stringContaining('is in use by process'),
      });
      await before.kill();

      const { stdout } = await move(redis.url);
      expect(stdout).toMatch(
        /^2 of 2 keys are in .* now: .* 1 of them had not ended, and are answered outcome-unknown\./m,
      );
      expect(stdout).toMatch(/^Stays behind in .*: 1 executions of the history, and 0 batches/m);
      expect((await move(redis.url)).stdout).toMatch(/^2 of 2 keys/m);

      responder = await createResponder({ sharedDir, app: APP, does: answersAfter(5) });
      await using _after = await startWholeProcess({
        sharedDir,
        port,
        settings: { ...settings, QUEUE_URL: redis.url },
      });
      await listens();
      expect((await run(1, { 'idempotency-key': 'ended' })).text).toBe(ended.text);
      expect((await run(2, { 'idempotency-key': 'open' })).json).toMatchObject({
        code: 'outcome-unknown',
        mayHaveRun: true,
      });
      expect(responder.found).toHaveLength(0);
      expect((await run(3, { 'idempotency-key': 'new' })).status).toBe(200);
    } finally {
      await responder.stop();
      await redis.stop();
      await rm(sharedDir, { recursive: true, force: true });
    }
  }, 90_000);

  it('says what is wrong: no Redis named, none there, no store', async () => {
    const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
    const move = (env: NodeJS.ProcessEnv) =>
      promisify(execFile)(process.execPath, ['bin/rule-server.js', 'move-keys', '--shared-dir', sharedDir], {
        env: { PATH: process.env.PATH, ...env },
      });
    await expect(move({})).rejects.toMatchObject({ code: 2, stderr: expect.stringContaining('Say with REDIS_URL') });
    await expect(move({ REDIS_URL: 'redis://127.0.0.1:1' })).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('There is no store in'),
    });
    await rm(sharedDir, { recursive: true });
  });
});
