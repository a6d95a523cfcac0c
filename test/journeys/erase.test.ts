import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { markerInFiles, markerInRedis } from '../support/find-marker.ts';
import { startRedis } from '../support/redis.ts';
import { claimRedisDatabase } from '../support/redis-database.ts';
import type { RedisServer } from '../support/redis-server.ts';
import { answers, createResponder, type Responder, resultText, staysSilent } from '../support/responder.ts';
import { runCli } from '../support/run-cli.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';
const BATCHES = '/rule-server/mock/batches';
const choice = inject('redis');

const eraseIt = ({ call }: Service, mockId: string) => call(`${EXECUTIONS}/${mockId}?erase=true`, { method: 'DELETE' });

describe('an erased execution', () => {
  it('is in no list and cannot be read; the same call under its key does not run again while its claim is kept', async () => {
    await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 1000 } });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const run = () => service.execute({ app: 1, ruleId: 1 }, { headers: { 'idempotency-key': 'once' } });
    const { mockId } = (await run()).json;
    expect((await run()).json.mockId).toBe(mockId);
    expect(await eraseIt(service, mockId)).toMatchObject({
      status: 200,
      json: { mockId, state: 'erased', found: true },
    });
    expect((await service.call(`${EXECUTIONS}/${mockId}`)).status).toBe(404);
    expect((await service.call(EXECUTIONS)).json.items).toEqual([]);
    expect((await run()).json).toMatchObject({ mockId, code: 'outcome-unknown', mayHaveRun: true });
    expect(client.found).toHaveLength(1);
    expect((await eraseIt(service, mockId)).json).toMatchObject({ found: true }); // the record of the repeat
    expect(await eraseIt(service, mockId)).toMatchObject({ status: 200, json: { found: false } }); // gone is gone
  });

  it('must have ended', async () => {
    await using service = await startService({ leavesFiles: true });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 1, does: staysSilent });
    const headers = { prefer: 'respond-async' };
    const { mockId } = (await service.execute({ app: 1, ruleId: 1 }, { headers })).json;
    expect(await eraseIt(service, mockId)).toMatchObject({
      status: 409,
      json: { code: 'execution-open' },
    });
    const bad = await service.call(`${EXECUTIONS}/${mockId}?erase=yes`, { method: 'DELETE' });
    expect([bad.status, bad.text]).toEqual([400, expect.stringContaining('"code":"invalid-value"')]);
  });

  it('must not be open at a client for another service of the same directory, which has no record of it', async () => {
    await using service = await startService({ leavesFiles: true });
    await using other = await startService({ sharedDir: service.sharedDir, leavesFiles: true });
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 1, does: staysSilent });
    const { mockId } = (await service.execute({ app: 1, ruleId: 1 }, { headers: { prefer: 'respond-async' } })).json;
    const files = [`.${mockId}.open`, `${mockId}.json`].map((name) => expect.stringContaining(name));
    await eventually(async () => expect((await service.leftovers()).sort()).toEqual(files));
    expect(await eraseIt(other, mockId)).toMatchObject({
      status: 409,
      json: { code: 'execution-may-be-open' },
    });
    expect((await service.leftovers()).sort()).toEqual(files);
  });

  it('the command line erases, and says which id is none', async () => {
    await using service = await startService();
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const { mockId } = (await service.execute({ app: 1, ruleId: 1 })).json;
    const erase = (id: string) => runCli('erase', id, '--url', service.url);
    expect(await erase(mockId)).toMatchObject({ code: 0, out: `Execution ${mockId} is erased.\n` });
    expect(await erase(mockId)).toMatchObject({
      code: 3,
      out: `There is no execution ${mockId}: nothing was erased.\n`,
    });
    expect(await erase('x')).toMatchObject({ code: 2 });
    expect((await service.call(`${EXECUTIONS}/${mockId}`)).status).toBe(404);
  });
});

describe.skipIf(choice.kind === 'unavailable')('what is left of an erased execution', () => {
  let redis: RedisServer;
  let database: RedisServer;
  let service: Service;
  const clients: Responder[] = [];
  beforeAll(async () => {
    redis = await startRedis(choice);
    database = await claimRedisDatabase(redis.url);
    service = await startService({ queueUrl: database.url, settings: { RESULT_TIMEOUT_MS: 800 }, leavesFiles: true });
    const { sharedDir } = service;
    clients.push(await createResponder({ sharedDir, app: 1, does: answers({ seen: 'answer-of-marker' }) }));
    const late = async (request: Parameters<typeof staysSilent>[0]) => {
      await request.pickUp();
      await new Promise((resolve) => setTimeout(resolve, 1200));
      await request.answer(resultText(request, { 'the service': { note: 'late-marker' } }));
    };
    clients.push(await createResponder({ sharedDir, app: 2, does: late }));
  });
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.stop()));
    await service?.stop();
    await database?.stop();
    await redis?.stop();
  });

  /** Where a text is, in Redis and in the shared directory. */
  const placesOf = async (marker: string) => [
    ...(await markerInRedis(database.url, marker)),
    ...(await markerInFiles(service.sharedDir, marker)),
  ];

  it.each([
    ['small', ''],
    ['of 30 KiB', 'x'.repeat(30_000)],
  ])('is nothing in Redis and in the shared directory, when input and answer are %s', async (_, more) => {
    const marker = `marker-${more.length}`;
    const body = { app: 1, ruleId: 1, 'the service': { note: marker, more } };
    const { json } = await service.execute(body, { headers: { 'idempotency-key': `key-${more.length}` } });
    await eventually(async () => expect((await service.call(EXECUTIONS)).text).toContain(json.mockId));
    expect(await placesOf(marker)).not.toEqual([]);
    expect((await eraseIt(service, json.mockId)).status).toBe(200);
    expect(await placesOf(marker)).toEqual([]);
  });

  it('is no late answer', async () => {
    const { json } = await service.execute({ app: 2, ruleId: 1, 'the service': { note: 'marker-of-late' } });
    const read = async () => (await service.call(`${EXECUTIONS}/${json.mockId}`)).json;
    await vi.waitFor(async () => expect((await read()).lateResult).not.toBeNull(), 60_000);
    expect(await placesOf('late-marker')).not.toEqual([]);
    expect((await eraseIt(service, json.mockId)).status).toBe(200);
    expect([...(await placesOf('late-marker')), ...(await placesOf('marker-of-late'))]).toEqual([]);
  });

  it('is no item of a batch, whose counts stay', async () => {
    const cases = [
      { name: 'one', 'the service': { note: 'marker-of-batch' }, expect: { data: { note: 'other-marker' } } },
    ];
    const body = JSON.stringify({ app: 1, ruleId: 1, cases });
    const headers = { 'content-type': 'application/json' };
    const { batchId } = (await service.call(BATCHES, { method: 'POST', headers, body })).json;
    const batch = async () => (await service.call(`${BATCHES}/${batchId}`)).json;
    await vi.waitFor(async () => expect((await batch()).state).toBe('finished'), 60_000);
    const before = await batch();
    const { mockId } = (await service.call(`${BATCHES}/${batchId}/items/1`)).json;
    expect(await placesOf('marker-of-batch')).not.toEqual([]);
    expect((await eraseIt(service, mockId)).json.found).toBe(true);
    expect((await eraseIt(service, mockId)).json.found).toBe(false);
    expect([...(await placesOf('marker-of-batch')), ...(await placesOf('other-marker'))]).toEqual([]);
    expect((await batch()).counts).toEqual(before.counts);
  });
});
