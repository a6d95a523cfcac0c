import { mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { answersWith, createResponder, errs, picksUpAndStaysSilent, resultText } from '../support/responder.ts';
import type { ApiProcess, Fault } from '../support/start-process.ts';
import { callSteadily, strangers, twice } from '../support/steady-calls.ts';
import { startVersions, type Version, type Versions } from '../support/two-versions.ts';

vi.setConfig({ testTimeout: 180_000 });

const choice = inject('redis');
const CALLS = '/rule-server/mock/executions';

describe.skipIf(choice.kind === 'unavailable')('two versions beside each other', () => {
  let versions: Versions;
  beforeAll(async () => {
    versions = await startVersions(choice);
  });
  afterAll(() => versions?.stop());
  const together: Versions['together'] = (use, settings) => versions.together(use, settings);

  it('the API of today and a worker of the next version: the worker reads its jobs and answers so that it can read', async () => {
    await together(async ({ api, worker, responder, queueUrl }) => {
      const [today] = await Promise.all([api('today'), worker('next')]);
      const called = await callAll([today], 40);
      expect(strangers(called)).toEqual([]);
      expect(twice(responder.found)).toEqual([]);
      expect(await formOf(queueUrl, called[0]?.answer.json.mockId)).toEqual({ data: 1, result: 1 });
      responder.does = echoes({ more: { large: 'x'.repeat(50_000) } });
      expect((await today.execute(bodyOf(0))).json['the service'].large).toHaveLength(50_000);
      expect((await httpCall(`${today.url}/rule-server/mock/clients?app=1`)).json.clients).toHaveLength(1);
      expect(today.log.filter(({ level }) => level >= 40)).toEqual([]);
    });
  });

  it('the API of the next version and workers of today: its calls are refused in time, nothing runs, nothing spins', async () => {
    await together(
      async ({ api, worker, responder, queueUrl }) => {
        const [newer, today] = await Promise.all([api('next'), api('today'), worker(), worker()]);
        const question = httpCall(`${newer.url}/rule-server/mock/clients?app=1`);
        const startedAt = Date.now();
        const calls = Array.from({ length: 100 }, (_, number) => newer.execute(bodyOf(number)));
        await vi.waitFor(async () => expect(await openAt(today)).toBe(100), { timeout: 11_000, interval: 50 });
        const refused = await Promise.all(calls);
        expect(Date.now() - startedAt).toBeLessThan(24_000);
        for (const { status, json } of refused) {
          expect({ status, code: json.code, mayHaveRun: json.mayHaveRun }).toEqual({
            status: 503,
            code: 'no-worker',
            mayHaveRun: false,
          });
          expect(json.error).toMatch(/ of version 3, .* It did not run\. Replace the workers first/);
        }
        const mockIds = refused.map(({ json }) => json.mockId);
        const taken = await Promise.all(mockIds.map((mockId) => timesTaken(queueUrl, mockId)));
        expect(Math.min(...taken)).toBeGreaterThan(2);
        expect(Math.max(...taken)).toBeLessThanOrEqual(12_000 / 250 + 1);

        expect(await question).toMatchObject({
          status: 503,
          json: { error: expect.stringMatching(/Replace the workers/) },
        });
        const { json: list } = await httpCall(`${today.url}${CALLS}?limit=100`);
        expect(list.items.map(({ state }: { state: string }) => state)).toEqual(Array(100).fill('rejected'));
        expect((await today.execute(bodyOf(1))).status).toBe(200);
        expect(responder.found).toHaveLength(1);

        await worker('next');
        expect((await newer.execute(bodyOf(2))).status).toBe(200);
        expect(responder.found).toHaveLength(2);
      },
      { QUEUE_TIMEOUT_MS: 12_000 },
    );
  });

  it('a dry run is left alone by workers of an earlier version: without another one it is refused, and with one it is a dry run', async () => {
    await together(
      async ({ api, worker, responder }) => {
        const [today] = await Promise.all([api('today'), worker('earlier')]);
        const dry = () => today.execute({ ...bodyOf(1), dryRun: true });
        const { status, json } = await dry();
        expect({ status, ...json }).toMatchObject({ status: 503, code: 'no-worker', mayHaveRun: false });
        expect(json.error).toMatch(/ of version 2, /);
        expect(responder.found).toEqual([]);
        responder.does = answersWith((request) => resultText(request, { dryRun: true }));
        await worker('today');
        const answers = await Promise.all(Array.from({ length: 20 }, dry));
        for (const answer of answers) expect(answer.json, answer.text).toMatchObject({ success: true, dryRun: true });
        for (const { text } of responder.found) expect(JSON.parse(text)).not.toHaveProperty('ruleId');
        expect(twice(responder.found)).toEqual([]);
      },
      { QUEUE_TIMEOUT_MS: 6000 },
    );
  });

  it('the API of the next version with one worker of each: every call is answered, each dispatched once', async () => {
    // A job is handed back for 250 ms until the newer worker happens to take it: a dozen times, and on a busy machine more often.
    const settings = { QUEUE_TIMEOUT_MS: 60_000 };
    await together(async ({ api, worker, responder }) => {
      const [newer] = await Promise.all([api('next'), worker('today'), worker('next')]);
      const called = await callAll([newer], 200, () => httpCall(`${newer.url}/rule-server/mock/clients?app=1`));
      expect(strangers(called)).toEqual([]);
      expect(responder.found).toHaveLength(called.length);
      expect(twice(responder.found)).toEqual([]);
    }, settings);
  });

  it('are exchanged as the handbook says, under 50 calls a second: none fails, none is dispatched twice', async () => {
    await together(async ({ api, worker, responder }) => {
      responder.does = echoes({ afterMs: 200 });
      const apis = await Promise.all([api(), api()]);
      const workers = await Promise.all([worker(), worker()]);
      // What a gateway does: it takes an API off before it is stopped, and calls go to those that are left.
      const calls = callSteadily({ perSecond: 50 }, (number) => anyOf(apis, number).execute(bodyOf(number)));
      for (const old of workers) {
        await worker('next');
        expect((await old.terminate()).code).toBe(0);
      }
      for (const old of apis.slice()) {
        apis.push(await api('next'));
        apis.splice(apis.indexOf(old), 1);
        await old.isReady(); // answers in order: what was sent to it before has arrived
        expect((await old.terminate()).code).toBe(0);
      }
      const called = await calls.stop();
      expect(strangers(called)).toEqual([]);
      expect(called.length).toBeGreaterThan(100);
      expect(responder.found).toHaveLength(called.length);
      expect(twice(responder.found)).toEqual([]);
      const versions = new Set(called.map(({ answer }) => answer.json.mockId));
      expect(await remembered(anyOf(apis, 0))).toEqual(versions);
    });
  });

  it.each([
    ['before it dispatched', { step: 'before-dispatch', signal: 'SIGKILL' }],
    ['after it dispatched', { step: 'dispatched', signal: 'SIGKILL' }],
  ] as [string, Fault][])(
    'the claim of a worker of the next version that was killed %s is left alone by one of today; another one goes on',
    async (_, fault) => {
      await together(async ({ api, worker, responder, sharedDir }) => {
        const [today] = await Promise.all([api('today')]);
        const dying = await worker('next', fault);
        const answer = today.execute(bodyOf(7));
        await dying.logged('the fault happens');
        await vi.waitUntil(() => !dying.isRunning, { timeout: 20_000 });
        const staying = await worker('today');
        const claim = await onlyClaim(sharedDir);
        await staying.logged(HANDED_BACK, 20_000);
        expect(await onlyClaim(sharedDir)).toBe(claim);
        expect(JSON.parse(claim).v).toBe(2);
        expect(responder.found).toHaveLength(fault.step === 'dispatched' ? 1 : 0);
        await worker('next');
        expect(await answer).toMatchObject({ status: 200, json: { 'the service': { number: 7 } } });
        expect(responder.found).toHaveLength(1);
      });
    },
  );

  it('the API of today says what it cannot read yet, and can once it has ended; one Idempotency-Key is one run', async () => {
    await together(async ({ api, worker, responder }) => {
      const end = Promise.withResolvers<void>();
      responder.does = echoes({ once: end.promise });
      const [newer, today] = await Promise.all([api('next'), api('today'), worker('next')]);
      const headers = { 'idempotency-key': 'once' };
      const first = newer.execute(bodyOf(1), { headers });
      const { mockId } = await responder.firstRequest();
      const second = today.execute(bodyOf(1), { headers });
      const early = await httpCall(`${today.url}${CALLS}/${mockId}`);
      expect(early).toMatchObject({ status: 503, json: { error: expect.stringMatching(/is on its way/) } });
      end.resolve();
      expect((await first).text).toBe((await second).text);
      // Its worker tells the caller first, and writes it into the history then.
      const ended = () => httpCall(`${today.url}${CALLS}/${mockId}`);
      await eventually(async () => expect(await ended()).toMatchObject({ json: { state: 'succeeded' } }));
      expect(responder.found).toHaveLength(1);
    });
  });

  it.each([
    ['earlier', 'today'],
    ['today', 'earlier'],
  ] as [Version, Version][])(
    'large inputs of an API of version %s are run by a worker of version %s, listed and followed by both APIs',
    async (ofApi, ofWorker) => {
      await together(async ({ api, worker, responder }) => {
        const end = Promise.withResolvers<void>();
        responder.does = echoes({ once: end.promise });
        const [caller, other] = await Promise.all([api(ofApi), api(ofWorker), worker(ofWorker)]);
        const input = { note: 'x'.repeat(500_000) };
        const call = caller.execute({ app: 1, ruleId: 1, 'the service': input });
        const { mockId, text } = await responder.firstRequest();
        expect(text).toContain(input.note);
        for (const { url } of [caller, other]) {
          const { items } = (await httpCall(`${url}${CALLS}`)).json;
          expect(items.map((item: { mockId: string }) => item.mockId)).toEqual([mockId]);
          expect((await httpCall(`${url}${CALLS}/${mockId}`)).json.input).toEqual(input);
        }
        end.resolve();
        expect((await call).json['the service']).toEqual(input);
      });
    },
  );

  it.each([
    ['earlier', 'today', { comparisonId: null, debug: undefined }],
    ['today', 'earlier', { comparisonId: null, debug: undefined }],
    ['today', 'today', { comparisonId: 'compared', debug: 3 }],
  ] as [Version, Version, { comparisonId: string | null; debug: number | undefined }][])(
    'a run of an API of version %s by a worker of version %s is read by APIs of both; the one of today tells what was known where it ran',
    async (ofApi, ofWorker, { comparisonId, debug }) => {
      await together(async ({ api, worker, sharedDir }) => {
        await releaseRules(sharedDir);
        const where = { sharedDir, app: 1, lane: 'beta', does: errs('the card was declined'), beatEveryMs: 1000 };
        await using client = await createResponder(where);
        const [earlier, today] = await Promise.all([api('earlier'), api('today'), worker(ofWorker)]);
        const body = { ...bodyOf(1), target: 'lane:beta', comparisonId: 'compared', debug: 3 };
        const { json } = await { earlier, today, next: today }[ofApi].execute(body);
        expect(json).toMatchObject({ success: false, error: 'the card was declined' });
        const { text } = await client.firstRequest();
        expect(JSON.parse(text).debug).toBe(debug);
        const known = ofWorker === 'today';
        const rules = known ? { released: 1, loaded: 1, digest: expect.any(String) } : null;
        const told = known ? { lane: 'beta', error: 'the card was declined' } : { lane: null, error: null };
        await reads(today, json.mockId, { ...ended, comparisonId, ...told, rules });
        await reads(earlier, json.mockId, ended);
        const query = 'app=1&where=number=1&state=failed';
        for (const { url } of [earlier, today])
          expect(idsIn(await httpCall(`${url}${CALLS}?${query}`))).toEqual([json.mockId]);
      });
    },
  );

  it('are upgraded from an earlier one under 50 calls a second: none fails, and what either wrote is read by both', async () => {
    await together(async ({ api, worker, responder, sharedDir }) => {
      await releaseRules(sharedDir);
      responder.does = echoes({ afterMs: 100 });
      const [earlier, today] = [await api('earlier'), await api('today')];
      const workers = [await worker('earlier'), await worker('earlier')];
      const calls = callSteadily({ perSecond: 50 }, (number) =>
        anyOf([earlier, today], number).execute(bodyOf(number)),
      );
      for (const old of workers) {
        await worker('today');
        expect((await old.terminate()).code).toBe(0);
      }
      await vi.waitUntil(() => calls.count >= 150, { timeout: 60_000 });
      const called = await calls.stop();
      expect(strangers(called)).toEqual([]);
      expect(twice(responder.found)).toEqual([]);
      const ids = new Set(called.map(({ answer }) => answer.json.mockId));
      for (const api of [earlier, today]) await eventually(async () => expect(await remembered(api)).toEqual(ids));
      const released = new Set((await recordsOf(today)).map(({ rules }) => rules?.released ?? null));
      expect(released).toEqual(new Set([null, 1]));
    });
  });

  it('a late answer that a worker of an earlier version keeps leaves what one of today wrote', async () => {
    const settings = { RESULT_TIMEOUT_MS: 1000 };
    await together(async ({ api, worker, responder, sharedDir }) => {
      await releaseRules(sharedDir);
      responder.does = picksUpAndStaysSilent;
      const [earlier, today, runs] = await Promise.all([api('earlier'), api('today'), worker('today')]);
      const { json } = await today.execute({ ...bodyOf(1), comparisonId: 'compared' });
      expect(json).toMatchObject({ code: 'no-answer', mayHaveRun: true });
      const wrote = {
        ...{ state: 'timed-out', comparisonId: 'compared', error: expect.stringMatching(/answer/) },
        rules: { released: 1, loaded: 1, digest: expect.any(String) },
      };
      await reads(today, json.mockId, { ...wrote, lateResult: null });
      expect((await runs.terminate()).code).toBe(0);
      const request = await responder.firstRequest();
      await request.answer(resultText(request, { 'the service': { late: true } }));
      await worker('earlier');
      const late = { state: 'timed-out', lateResult: { 'the service': { late: true } } };
      await reads(earlier, json.mockId, late);
      await reads(today, json.mockId, { ...wrote, ...late });
    }, settings);
  });

  it('a late answer of a run that a worker of an earlier version sent is kept by one of today, with the rules that it tells', async () => {
    const settings = { RESULT_TIMEOUT_MS: 1000 };
    await together(async ({ api, worker, responder }) => {
      responder.does = picksUpAndStaysSilent;
      const [earlier, today, runs] = await Promise.all([api('earlier'), api('today'), worker('earlier')]);
      const { json } = await earlier.execute(bodyOf(1));
      await reads(today, json.mockId, { state: 'timed-out', rules: null });
      expect((await runs.terminate()).code).toBe(0);
      const request = await responder.firstRequest();
      const rules = { version: 1, digest: 'd'.repeat(22) };
      await request.answer(resultText(request, { rules }));
      await worker('today');
      const told = { released: null, loaded: 1, digest: rules.digest, told: true };
      await reads(today, json.mockId, { lateResult: { success: true }, rules: told });
      await reads(earlier, json.mockId, { lateResult: { success: true } });
    }, settings);
  });
});

const ended = { state: 'failed', app: 1, input: { number: 1 }, result: { error: 'the card was declined' } };

/** An API tells this of an execution, at the latest once it is in the history. */
const reads = ({ url }: ApiProcess, mockId: string, told: object) =>
  eventually(async () => expect((await httpCall(`${url}${CALLS}/${mockId}`)).json).toMatchObject(told));

const idsIn = ({ json }: Answer): string[] => json.items.map(({ mockId }: { mockId: string }) => mockId);

/** Rule 1 of app 1, at version 1. */
async function releaseRules(sharedDir: string): Promise<void> {
  const folder = join(sharedDir, '1');
  for (const name of ['bases', 'confs']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'bases/1.json'), '{"id":1,"app":1,"name":"gate","status":1,"confId":2}');
  await writeFile(
    join(folder, 'confs/2.json'),
    '{"id":2,"app":1,"status":1,"type":5,"confName":"a.Spend","confField":"{}"}',
  );
  await writeFile(join(folder, 'version.txt'), '1');
}

const HANDED_BACK =
  'Jobs of a newer version are handed back: start a worker of that version; replace workers before APIs';
const bodyOf = (number: number) => ({ app: 1, ruleId: 1, 'the service': { number } });

function anyOf(apis: ApiProcess[], number: number): ApiProcess {
  const api = apis[number % apis.length];
  if (!api) throw new Error('there is no API');
  return api;
}

/** So many calls, 50 a second; `also` is asked now and then and must be answered. */
async function callAll(apis: ApiProcess[], count: number, also?: () => Promise<Answer>) {
  const calls = callSteadily({ perSecond: 50 }, (number) => anyOf(apis, number).execute(bodyOf(number)));
  await vi.waitUntil(() => calls.count >= count / 2, { timeout: 60_000 });
  if (also) for (let asked = 0; asked < 5; asked++) expect((await also()).status).toBe(200);
  await vi.waitUntil(() => calls.count >= count, { timeout: 60_000 });
  return calls.stop();
}

/** Executions that wait for a worker or that one has, as an API counts them. */
async function openAt({ url }: ApiProcess): Promise<number> {
  const { waiting, active } = (await httpCall(`${url}/readyz`)).json;
  return waiting + active;
}

/** The versions of a finished job and of its result. */
async function formOf(queueUrl: string, mockId: string): Promise<unknown> {
  const { data, returnvalue } = await jobOf(queueUrl, mockId);
  return { data: JSON.parse(data ?? '{}').v, result: JSON.parse(returnvalue ?? '{}').v };
}

async function timesTaken(queueUrl: string, mockId: string): Promise<number> {
  return Number((await jobOf(queueUrl, mockId)).ats);
}

async function jobOf(queueUrl: string, mockId: string): Promise<Record<string, string>> {
  const redis = new Redis(queueUrl);
  try {
    return await redis.hgetall(`{rule-server}:executions:${mockId}`);
  } finally {
    redis.disconnect();
  }
}

async function onlyClaim(sharedDir: string): Promise<string> {
  const claims = join(sharedDir, '.rule-server/claims');
  const [bucket = ''] = await readdir(claims);
  const [mockId = ''] = await readdir(join(claims, bucket));
  return readlink(join(claims, bucket, mockId));
}

/** The ids of all executions in the history, as one API lists them. */
async function remembered(api: ApiProcess): Promise<Set<string>> {
  return new Set((await recordsOf(api)).map(({ mockId }) => mockId));
}

/** All that an API lists. */
async function recordsOf({ url }: ApiProcess): Promise<Listed[]> {
  const items: Listed[] = [];
  for (let cursor = ''; ; ) {
    const { json } = await httpCall(`${url}${CALLS}?limit=100${cursor && `&cursor=${cursor}`}`);
    items.push(...json.items);
    if (!json.nextCursor) return items;
    cursor = json.nextCursor;
  }
}
type Listed = { mockId: string; rules: { released: number } | null };
