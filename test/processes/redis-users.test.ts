import { PassThrough, Readable } from 'node:stream';
import { describe, expect, inject, it, vi } from 'vitest';
import { runCommand } from '../../src/cli/program.ts';
import { echoes } from '../support/echoes.ts';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { redisCommand } from '../support/redis-command.ts';
import { startRedisProcess } from '../support/redis-process.ts';
import { createResponder } from '../support/responder.ts';
import { startProcesses } from '../support/start-processes.ts';

vi.setConfig({ testTimeout: 120_000 });

const PASSWORD = 'the-password-of-a-user-in-this-test';

describe.skipIf(!inject('hasRedisBinary'))('a user of Redis who may not do everything', () => {
  it.each(['TIME', 'SET'])('may not use %s: /readyz of the API and of the worker name it', async (name) => {
    const redis = await startRedisProcess();
    try {
      const rights = ['on', `>${PASSWORD}`, '~*', '&*', '+@all', `-${name.toLowerCase()}`];
      await redisCommand(redis.url, 'ACL', 'SETUSER', 'limited', ...rights);
      const queueUrl = urlOf(redis.url, 'limited');
      const workerPort = await freePort();
      await using processes = await startProcesses({ queueUrl, apis: 0, workers: 0 });
      const api = await processes.addApi({ untilReady: false });
      await processes.addWorker({ untilReady: false, settings: { WORKER_PORT: workerPort } });
      for (const url of [api.url, `http://127.0.0.1:${workerPort}`])
        await vi.waitFor(async () => {
          const { status, text } = await httpCall(`${url}/readyz`);
          expect([status, text]).toEqual([503, expect.stringMatching(/NOPERM|permission|may not/i)]);
          expect(text).toMatch(new RegExp(`\\b${name}\\b`, 'i'));
        }, 20_000);
    } finally {
      await redis.stop();
    }
  });

  it('has the rights that doctor prints: everything works with them', async () => {
    const redis = await startRedisProcess();
    try {
      await using processes = await startProcesses({ queueUrl: redis.url, apis: 0, workers: 0 });
      const { sharedDir } = processes;
      const printed = await doctor({ REDIS_URL: redis.url, SHARED_DIR: sharedDir });
      const [, name = '', rights = ''] = /ACL SETUSER (\S+) ([^\n]+)/.exec(printed) ?? [];
      expect(rights).toMatch(/[~%]\S*rule-server/); // it is not for every key
      const given = rights.split(' ').filter((right) => !right.startsWith('>') && right !== 'on' && right !== 'nopass');
      await redisCommand(redis.url, 'ACL', 'SETUSER', name, 'on', `>${PASSWORD}`, ...given);
      await redisCommand(redis.url, 'ACL', 'SETUSER', 'default', 'off'); // nobody falls back to it
      await using limited = await startProcesses({ queueUrl: urlOf(redis.url, name) });
      await using _ = await createResponder({ sharedDir: limited.sharedDir, app: 1, does: echoes() });
      const call = { app: 1, ruleId: 1, 'the service': { number: 7 } };
      const headers = { 'idempotency-key': 'once' };
      expect((await limited.api.execute(call, { headers })).status).toBe(200);
      expect((await limited.api.execute(call, { headers })).status).toBe(200);
      const at = (path: string) => httpCall(`${limited.api.url}/rule-server/mock/${path}`);
      expect((await at('executions?include=input')).json.items).toHaveLength(1);
      const begun = await httpCall(`${limited.api.url}/rule-server/mock/batches`, {
        ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
        body: JSON.stringify({ app: 1, ruleId: 1, cases: [{ name: 'one' }] }),
      });
      await vi.waitFor(
        async () => expect((await at(`batches/${begun.json.batchId}`)).json.state).toBe('finished'),
        20_000,
      );
      expect(limited.warnings()).toEqual([]);
      expect(limited.noise()).toEqual([]);
    } finally {
      await redis.stop();
    }
  });
});

function urlOf(url: string, user: string): string {
  const named = new URL(url);
  named.username = user;
  named.password = PASSWORD;
  return named.href;
}

/** What doctor says, with its advice. */
async function doctor(environment: Record<string, string>): Promise<string> {
  const [out, err] = [new PassThrough(), Object.assign(new PassThrough(), { isTTY: false })];
  const said = out.setEncoding('utf8').toArray();
  err.resume();
  await runCommand(['doctor', '--url', 'http://127.0.0.1:1'], {
    ...{ environment, stdin: Readable.from([]), stdout: out, stderr: err },
    onInterrupt: () => {},
  });
  out.end();
  return (await said).join('');
}
