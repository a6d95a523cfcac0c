import { execFile } from 'node:child_process';
import { chmod } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import { httpCall } from '../support/http-call.ts';
import { limitedRoot } from '../support/limited-root.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { type Behaviour, createResponder, type FoundRequest, resultText } from '../support/responder.ts';
import { type Processes, startProcesses } from '../support/start-processes.ts';

vi.setConfig({ testTimeout: 180_000 });

const run = promisify(execFile);
const choice = inject('redis');
const isLinux = process.platform === 'linux';

const text = (request: FoundRequest) => resultText(request, { 'the service': { kept: 'all of it' } });

describe.skipIf(choice.kind === 'unavailable' || !isLinux).concurrent('an answer that the worker cannot read', () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis(choice);
  });
  afterAll(() => redis.stop());

  async function withWorker(
    RESULT_TIMEOUT_MS: number,
    use: (processes: Processes, pid: number, port: number) => Promise<void>,
  ): Promise<void> {
    const database = await claimRedisDatabase(redis.url);
    await using processes = await startProcesses({
      queueUrl: database.url,
      workers: 0,
      settings: { RESULT_TIMEOUT_MS },
    });
    const WORKER_PORT = await freePort();
    const { pid } = await processes.addWorker({ under: limitedRoot, settings: { WORKER_PORT } });
    await use(processes, pid, WORKER_PORT);
    await database.stop();
  }

  it('for 3 s, because the client sets the mode after the rename: it is the answer', () =>
    withWorker(40_000, async ({ sharedDir, api }, _pid, port) => {
      await using _client = await createResponder({ sharedDir, app: 1, does: hiddenFor(3000) });
      const { status, json } = await api.execute({ app: 1, ruleId: 1 });
      expect([status, json.error, json['the service']]).toEqual([200, null, { kept: 'all of it' }]);
      const { text: scrape } = await httpCall(`http://127.0.0.1:${port}/metrics`);
      expect(scrape).toMatch(/^rule_server_unreadable_results_total 1$/m);
      const offset = /^rule_server_worker_file_clock_ahead_seconds (\S+)$/m.exec(scrape)?.[1];
      expect(Math.abs(Number(offset))).toBeLessThan(5);
    }));

  it('because it has no file descriptor left for 3 s: it is the answer', () =>
    withWorker(40_000, async ({ sharedDir, api }, pid) => {
      const limit = (soft: number) => run('prlimit', ['--pid', String(pid), `--nofile=${soft}:`]);
      const does: Behaviour = async (request) => {
        await request.pickUp();
        await limit(1);
        await request.answer(text(request));
        await delay(3000);
        await limit(1000);
      };
      await using _client = await createResponder({ sharedDir, app: 1, does });
      const { status, json } = await api.execute({ app: 1, ruleId: 1 });
      expect([status, json.error, json['the service']]).toEqual([200, null, { kept: 'all of it' }]);
    }));

  it('until its time is over: the caller hears who could not read what, and the answer is kept once it can be read', () =>
    withWorker(6000, async ({ sharedDir, api }) => {
      await using client = await createResponder({ sharedDir, app: 1, does: hiddenFor(12_000) });
      const { status, json } = await api.execute({ app: 1, ruleId: 1 });
      expect([status, json.code, json.mayHaveRun]).toEqual([504, 'no-answer', true]);
      expect(json.error).toBe(
        `Client ${client.address} may have answered, but the worker could not read the answer for 6000 ms (EACCES: the worker has no permission). An answer that can be read later is kept with the execution. The rule may have run; look at the client before running it again.`,
      );
      await vi.waitFor(async () => {
        const execution = await httpCall(`${api.url}/rule-server/mock/executions/${json.mockId}`);
        expect(execution.json.lateResult).toMatchObject({ 'the service': { kept: 'all of it' } });
      }, 40_000);
    }));
});

/** Puts an answer in place that nobody may read for a while. */
function hiddenFor(ms: number): Behaviour {
  return async (request) => {
    await request.pickUp();
    await request.answer(text(request), 0);
    await delay(ms);
    await chmod(request.resultPath, 0o644);
  };
}
