import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/http-call.ts';
import { answers, answersAfter, createResponder, staysSilent } from '../support/responder.ts';
import { PATIENT, startService } from '../support/start-service.ts';

describe('when there is too much to do', () => {
  it('and nobody to do it: 503 no-worker, after the time a call may wait for one', async () => {
    await using service = await startService({ workers: 0, settings: { QUEUE_TIMEOUT_MS: 600 } });
    const startedAt = Date.now();
    const answer = await service.execute({ app: 1, ruleId: 1 });
    expectRefused(answer, 'no-worker', 'no-worker');
    expect(Date.now() - startedAt).toBeGreaterThan(600);
    await eventually(async () => expect((await service.call('/readyz')).json).toMatchObject({ waiting: 0, active: 0 }));
  });

  it('and nobody to do it under a key: no worker could say whether an earlier call ran, and the key stays free', async () => {
    await using service = await startService({ workers: 0, settings: { QUEUE_TIMEOUT_MS: 600 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const keyed = { headers: { 'idempotency-key': 'one' } };
    const { status, json } = await service.execute({ app: 1, ruleId: 1 }, keyed);
    expect([status, json.code, json.reason, json.mayHaveRun]).toEqual([504, 'no-worker', 'no-worker-for-keyed', true]);
    await service.addWorker();
    await eventually(async () => expect((await service.execute({ app: 1, ruleId: 1 }, keyed)).status).toBe(200));
    expect(client.found).toHaveLength(1);
  });

  it('and their bodies are large: those beyond MAX_OPEN_BODY_BYTES wait for room, and are refused when there is none in time', async () => {
    await using service = await startService({ settings: { ...PATIENT, MAX_OPEN_BODY_BYTES: 100_000 } });
    const released = Promise.withResolvers<void>();
    const does = echoes({ once: released.promise });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does });
    await using _other = await createResponder({ sharedDir: service.sharedDir, app: 2, does: answers() });
    const body = { app: 1, ruleId: 1, 'the service': { filling: 'x'.repeat(40_000) } };
    const open = [service.execute(body), service.execute(body, { headers: { prefer: 'respond-async' } })];
    await eventually(() => expect(client.found).toHaveLength(2));
    const inVain = service.execute(body);
    expect((await service.execute({ app: 2, ruleId: 1 })).status).toBe(200);
    expectRefused(await inVain, 'overloaded', 'bodies-full');
    const inTime = service.execute(body);
    released.resolve();
    expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 202]);
    expect((await inTime).status).toBe(200);
  });

  it('a call whose caller left is not run by a worker that starts later, one that still waits is', async () => {
    await using service = await startService({ workers: 0, settings: PATIENT });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const caller = new AbortController();
    const left = service.execute({ app: 1, ruleId: 1 }, { signal: caller.signal });
    const stayed = service.execute({ app: 1, ruleId: 2 });
    await eventually(async () => expect((await service.call('/readyz')).json.waiting).toBe(2));
    caller.abort();
    await expect(left).rejects.toThrow();
    await eventually(async () => expect((await service.call('/readyz')).json.waiting).toBe(1));
    await service.addWorker();
    expect((await stayed).status).toBe(200);
    expect(client.found.map(({ text }) => JSON.parse(text).ruleId)).toEqual([2]);
  });

  it('and too many wait already: 503 overloaded, at once', async () => {
    await using service = await startService({ workers: 0, settings: { ...PATIENT, MAX_QUEUED: 3 } });
    const callers = new AbortController();
    const call = () => service.execute({ app: 1, ruleId: 1 }, { signal: callers.signal }).catch(() => 'left');
    const waiting = Array.from({ length: 3 }, call);
    await eventually(async () => expect((await service.call('/readyz')).json.waiting).toBe(3));
    expectRefused(await service.execute({ app: 1, ruleId: 1 }), 'overloaded', 'too-many-wait');
    callers.abort();
    await Promise.all(waiting);
  });

  it('and every worker is full: 503 overloaded, and nothing was written for the client', async () => {
    await using service = await startService({ settings: { WORKER_CONCURRENCY: 1, QUEUE_TIMEOUT_MS: 800 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answersAfter(3000) });
    const first = service.execute({ app: 1, ruleId: 1 });
    await client.firstRequest();
    expectRefused(await service.execute({ app: 1, ruleId: 2 }), 'overloaded', NOBODY_BEGAN);
    expect((await first).status).toBe(200);
    expect(client.found).toHaveLength(1);
  });

  describe('a client that has as many open as it may', () => {
    const settings = {
      ...PATIENT,
      MAX_WAITS_PER_CLIENT: 2,
      QUEUE_TIMEOUT_MS: 3000,
      POLL_INTERVAL_MS: 100,
    };

    it('gets no more: 503 overloaded, while others go on', async () => {
      await using service = await startService({ settings });
      const { sharedDir } = service;
      const released = Promise.withResolvers<void>();
      const does = echoes({ once: released.promise });
      await using full = await createResponder({ sharedDir, app: 1, does });
      await using other = await createResponder({ sharedDir, app: 2, does: answers() });
      const open = [1, 2].map((ruleId) => service.execute({ app: 1, ruleId }));
      await eventually(() => expect(full.found).toHaveLength(2));
      const refused = service.execute({ app: 1, ruleId: 3 });
      for (let call = 0; call < 3; call++) expect((await service.execute({ app: 2, ruleId: 1 })).status).toBe(200);
      expectRefused(await refused, 'overloaded', 'client-full');
      released.resolve();
      expect((await Promise.all(open)).map(({ status }) => status)).toEqual([200, 200]);
      expect([full.found.length, other.found.length]).toEqual([2, 3]);
    });

    it('leaves room for others, however many calls wait for a slot at it', async () => {
      const patient = { ...PATIENT, WORKER_CONCURRENCY: 8 };
      await using service = await startService({ settings: { ...settings, ...patient } });
      const { sharedDir } = service;
      const released = Promise.withResolvers<void>();
      const does = echoes({ once: released.promise });
      await using full = await createResponder({ sharedDir, app: 1, does });
      await using _other = await createResponder({ sharedDir, app: 2, does: answers() });
      const calls = Array.from({ length: 30 }, () => service.execute({ app: 1, ruleId: 1 }));
      await eventually(() => expect(full.found).toHaveLength(2));
      for (let call = 0; call < 3; call++) expect((await service.execute({ app: 2, ruleId: 1 })).status).toBe(200);
      expect(full.found).toHaveLength(2);
      released.resolve();
      expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(30).fill(200));
      expect(full.found).toHaveLength(30);
    });

    it('gets the next one as soon as one of them ends, and is not full for ever', async () => {
      const patient = { ...settings, ...PATIENT };
      await using service = await startService({ settings: patient });
      await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answersAfter(400) });
      for (let round = 0; round < 2; round++) {
        const calls = [1, 2, 3, 4].map((ruleId) => service.execute({ app: 1, ruleId }));
        expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
        await eventually(async () => expect(await readdir(client.directory)).toEqual([]));
      }
    });
  });

  it('two workers share the calls, and each call is run by one of them', async () => {
    await using service = await startService({ workers: 2, settings: { WORKER_CONCURRENCY: 4 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answersAfter(200) });
    const calls = Array.from({ length: 16 }, () => service.execute({ app: 1, ruleId: 1 }));
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(Array(16).fill(200));
    expect(client.found).toHaveLength(16);
  });

  it('a call cancelled while it waits for a place at its client ends at once', async () => {
    await using service = await startService({ settings: { MAX_WAITS_PER_CLIENT: 1, RESULT_TIMEOUT_MS: 2500 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: staysSilent });
    const first = service.execute({ app: 1, ruleId: 1 });
    await client.firstRequest();
    const caller = new AbortController();
    const second = service.execute({ app: 1, ruleId: 2 }, { signal: caller.signal });
    await eventually(async () => expect((await service.call('/readyz')).json.active).toBe(2));
    caller.abort();
    await expect(second).rejects.toThrow();
    await eventually(async () => expect((await service.call('/readyz')).json.active).toBe(1));
    expect((await first).json.code).toBe('not-picked-up');
    expect(client.found).toHaveLength(1);
  });
});

const NOBODY_BEGAN = 'never-begun';

function expectRefused({ status, headers, json }: Answer, code: string, reason: string): void {
  expect(json.reason).toBe(reason);
  expect([status, json.code, json.mayHaveRun]).toEqual([503, code, false]);
  expect(Number(headers['retry-after'])).toBeGreaterThan(0);
}
