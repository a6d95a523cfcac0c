import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { httpCall } from '../support/http-call.ts';
import { copyProgram, type Edit, type ProgramCopy } from '../support/program-copy.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import { createResponder } from '../support/responder.ts';
import { type ApiProcess, startApiProcess, startWorkerProcess } from '../support/start-process.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');

/** Workers of earlier versions tell nobody how a job ended, and their connections have no name. */
const workerOfEarlier: Record<string, Edit[]> = {
  'shared/store/redis-backend.ts': [
    ['    tellEndings(backend, prefix);\n', ''],
    ['    workerName: TELLING_WORKER,\n', ''],
  ],
};
/** APIs of earlier versions do not say where replies go, and read the event stream of all calls. */
const apiOfEarlier: Record<string, Edit[]> = {
  'api/calls/submit-execution.ts': [[', replyTo: pending.replyTo', '']],
  'api/ask-worker.ts': [[', replyTo: jobs.replyTo', '']],
  'api/queue-health.ts': [['return state.workers.allTell;', 'return false;']],
};

describe.skipIf(choice.kind === 'unavailable')('beside the version that tells nobody how jobs end', () => {
  it('workers of it: an API of today hears of the ends of its calls and questions without a re-check', async () => {
    await using earlier = await copyProgram(workerOfEarlier);
    await answersAtOnce({ worker: earlier });
  });

  it('an API of it: a worker of today ends its calls and questions so that it hears of them without a re-check', async () => {
    await using earlier = await copyProgram(apiOfEarlier);
    await answersAtOnce({ api: earlier });
  });
});

/** Calls and questions one after the other: a re-check comes after 2 s. */
async function answersAtOnce({ api, worker }: { api?: ProgramCopy; worker?: ProgramCopy }): Promise<void> {
  const redis = await startRedis(choice);
  const database = await claimRedisDatabase(redis.url);
  const sharedDir = await mkdtemp(join(tmpdir(), 'rule-server-'));
  await mkdir(join(sharedDir, 'mock'));
  try {
    const common = { queueUrl: database.url };
    await using _client = await createResponder({ sharedDir, app: 1, does: echoes() });
    await using _worker = await startWorkerProcess({ ...common, sharedDir, ...(worker && { root: worker.root }) });
    await using asked = await startApiProcess({ ...common, ...(api && { root: api.root }) });
    await callOnce(asked, 0);
    const took: number[] = [];
    for (let number = 1; number <= 10; number++) took.push(await callOnce(asked, number));
    expect(took.toSorted((a, b) => a - b)[5]).toBeLessThan(1000);
    const asking: number[] = [];
    for (let number = 0; number < 5; number++) {
      const startedAt = performance.now();
      expect((await httpCall(`${asked.url}/rule-server/mock/clients?app=1`)).status).toBe(200);
      asking.push(performance.now() - startedAt);
    }
    expect(asking.toSorted((a, b) => a - b)[2]).toBeLessThan(1500);
  } finally {
    await rm(sharedDir, { recursive: true, force: true });
    await database.stop();
    await redis.stop();
  }
}

async function callOnce(api: ApiProcess, number: number): Promise<number> {
  const startedAt = performance.now();
  const { status, json } = await api.execute({ app: 1, ruleId: 1, 'the service': { number } });
  expect([status, json['the service']]).toEqual([200, { number }]);
  return performance.now() - startedAt;
}
