import { createHash, randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { addExecution } from '../../src/shared/store/queue/job-heads.ts';
import { openQueueBackend } from '../../src/shared/store/queue/open-queue-backend.ts';
import { queueNames } from '../../src/shared/store/queue/queue-names.ts';
import { httpCall } from '../support/http-call.ts';
import type { ApiProcess } from '../support/start-process.ts';
import { startVersions, type Version, type Versions } from '../support/two-versions.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');
const WITHIN = { timeout: 20_000, interval: 200 };
const HANDED_BACK =
  'Jobs of a newer version are handed back: start a worker of that version; replace workers before APIs';
const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

describe.skipIf(choice.kind === 'unavailable')('Idempotency-Keys and announcements of two versions', () => {
  let versions: Versions;
  beforeAll(async () => {
    versions = await startVersions(choice);
  });
  afterAll(() => versions?.stop());
  const together: Versions['together'] = (use, settings) => versions.together(use, settings);

  it('a key whose job never came: a worker of the next version fences it for an API of today, and the call runs', async () => {
    await together(async ({ api, worker, responder, queueUrl }) => {
      const [today] = await Promise.all([api('today'), worker('next')]);
      await noteWithoutJob(queueUrl, { key: 'k', body: bodyOf(1), claimBy: Date.now() + 5000 });
      expect(await today.execute(bodyOf(1), { headers: { 'idempotency-key': 'k' } })).toMatchObject({ status: 200 });
      expect(responder.found).toHaveLength(1);
      expect((await httpCall(`${today.url}/metrics`)).text).toMatch(
        /^rule_server_fences_total\{outcome="fenced"\} 1$/m,
      );
    });
  });

  it.each([['next', 'today']] as [Version, Version][])(
    'asked by an API of version %s, a worker of version %s that does not know how to fence leaves such a key unknown, until one that does is there',
    async (ofApi, ofWorker) => {
      await together(async ({ api, worker, responder, queueUrl }) => {
        const [newer] = await Promise.all([api(ofApi), worker(ofWorker)]);
        await noteWithoutJob(queueUrl, { key: 'k', body: bodyOf(1), claimBy: Date.now() + 5000 });
        const headers = { 'idempotency-key': 'k' };
        expect(await newer.execute(bodyOf(1), { headers })).toMatchObject({
          status: 503,
          json: { code: 'outcome-unknown', mayHaveRun: true },
        });
        await worker(ofApi);
        await vi.waitFor(
          async () => expect(await newer.execute(bodyOf(1), { headers })).toMatchObject({ status: 200 }),
          {
            timeout: 20_000,
            interval: 500,
          },
        );
        expect(responder.found).toHaveLength(1);
      });
    },
  );

  it.each([
    ['today', 'earlier'],
    ['earlier', 'today'],
  ] as [Version, Version][])(
    'a call noted by an API of version %s is answered once, also when it is repeated at one of version %s',
    async (first, second) => {
      await together(async ({ api, worker, responder }) => {
        const [noting, reading] = await Promise.all([api(first), api(second), worker()]);
        const headers = { 'idempotency-key': 'once' };
        const answers = await Promise.all([
          noting.execute(bodyOf(1), { headers }),
          reading.execute(bodyOf(1), { headers }),
        ]);
        const again = await Promise.all([noting, reading].map((each) => each.execute(bodyOf(1), { headers })));
        expect(new Set([...answers, ...again].map(({ text }) => text)).size).toBe(1);
        expect(answers[0]?.status).toBe(200);
        expect(responder.found).toHaveLength(1);
      });
    },
  );

  it.each([
    ['today', 'next', 'fenced'],
    ['today', 'earlier', 'fenced'],
  ] as [Version, Version, string][])(
    'what a worker of version %s has fenced is refused by one of version %s when its job comes after all, and does not run',
    async (fencing, late, code) => {
      await together(async ({ api, worker, responder, queueUrl }) => {
        const [today, first] = await Promise.all([api(), worker(fencing)]);
        const { job } = await fenceOne(today, queueUrl);
        await first.terminate();
        await worker(late);
        const mockId = await job.add();
        await vi.waitFor(
          async () => expect((await executionOf(today, mockId)).outcome).toMatchObject({ code, mayHaveRun: false }),
          WITHIN,
        );
        expect(JSON.stringify(await executionOf(today, mockId))).toContain('was withdrawn before it began');
        expect(responder.found).toHaveLength(1);
      });
    },
  );

  it('what a worker of the next version has fenced is left alone by one of today when its job comes after all, and ends with one that can read it', async () => {
    await together(async ({ api, worker, responder, queueUrl }) => {
      const [today, first] = await Promise.all([api(), worker('next')]);
      const { job } = await fenceOne(today, queueUrl);
      await first.terminate();
      const staying = await worker();
      const mockId = await job.add();
      await staying.logged(HANDED_BACK, 20_000);
      await worker('next');
      await vi.waitFor(
        async () =>
          expect((await executionOf(today, mockId)).outcome).toMatchObject({ code: 'fenced', mayHaveRun: false }),
        WITHIN,
      );
      expect(responder.found).toHaveLength(1);
    });
  });

  it.each([
    ['today', 'earlier'],
    ['earlier', 'today'],
  ] as [Version, Version][])(
    'an API of version %s counts a worker of version %s, and its calls run',
    async (ofApi, ofWorker) => {
      await together(async ({ api, worker }) => {
        const [caller] = await Promise.all([api(ofApi), worker(ofWorker)]);
        await vi.waitFor(
          async () =>
            expect((await httpCall(`${caller.url}/readyz`)).json).toMatchObject({ status: 'ready', workers: 1 }),
          WITHIN,
        );
        expect((await caller.execute(bodyOf(1))).status).toBe(200);
      });
    },
  );
});

/** Has the execution of a key fenced whose job never came, by calling again under that key. `job` adds it after all. */
async function fenceOne(api: ApiProcess, queueUrl: string) {
  const claimBy = Date.now() + 30_000;
  const mockId = await noteWithoutJob(queueUrl, { key: 'k', body: bodyOf(1), claimBy });
  const { status, json } = await api.execute(bodyOf(1), { headers: { 'idempotency-key': 'k' } });
  expect(status).toBe(200);
  const add = async (): Promise<string> => {
    const { data } = await jobOf(queueUrl, json.mockId);
    const backend = await openQueueBackend(queueUrl);
    const queue: Parameters<typeof addExecution>[0] = backend.openQueue(queueNames.executions);
    await addExecution(queue, mockId, { ...JSON.parse(data ?? ''), claimBy });
    await queue.close();
    await backend.close();
    return mockId;
  };
  return { job: { add } };
}

async function executionOf(api: ApiProcess, mockId: string) {
  return (await httpCall(`${api.url}/rule-server/mock/executions/${mockId}`)).json;
}

async function jobOf(queueUrl: string, mockId: string): Promise<Record<string, string>> {
  const redis = new Redis(queueUrl);
  try {
    return await redis.hgetall(`{rule-server}:executions:${mockId}`);
  } finally {
    redis.disconnect();
  }
}

/** What an API leaves that died after it noted a call and before it added the job. */
async function noteWithoutJob(
  queueUrl: string,
  { key, body, ...more }: { key: string; body: unknown; claimBy?: number; ending?: unknown },
): Promise<string> {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const digest = sha256(JSON.stringify(body));
  const note = { mockId: randomUUID(), digest, at: Date.now() - 1000, ...more };
  const redis = new Redis(queueUrl);
  try {
    const name = `{rule-server}:store:idempotency:${sha256(JSON.stringify([1, null, key]))}`;
    await redis.set(name, JSON.stringify(note), 'EX', 3600);
    return note.mockId;
  } finally {
    redis.disconnect();
  }
}
