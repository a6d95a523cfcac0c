import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import type { JobData } from '../../src/shared/contract/job.ts';
import { queueNames } from '../../src/shared/contract/queue-names.ts';
import { eventually } from '../support/eventually.ts';
import {
  answers,
  answersWith,
  createResponder,
  errs,
  picksUpAndStaysSilent,
  resultText,
} from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

describe('executions that are kept', () => {
  it('leave when there is no more room, and a pinned one does not: it is found, opened, and unpinned', async () => {
    await using service = await startService({ settings: { HISTORY_COUNT: 3 } });
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    const first = await run(service, { uid: 1 });
    expect(await whole(service, first)).toMatchObject({ pinned: false, keptUntil: expect.any(Number) });
    expect((await pin(service, first)).status).toBe(204);
    for (let uid = 2; uid < 7; uid++) await run(service, { uid });
    expect(await whole(service, first)).toMatchObject({
      pinned: true,
      keptUntil: null,
      input: { uid: 1 },
      state: 'succeeded',
    });
    expect(await found(service, 'where=uid=1')).toEqual([]);
    expect(await found(service, 'pinned=true')).toEqual([first]);
    expect(await found(service, 'pinned=true&where=uid=1')).toEqual([first]);
    expect(await found(service, 'pinned=true&where=uid=2')).toEqual([]);
    const { json } = await service.call(`/rule-server/mock/kept`);
    expect(json).toMatchObject({ executions: 3, limits: { executions: 3, seconds: 604_800 } });
    expect(json.waits).toEqual({ worker: 30_000, client: 30_000 });
    expect((await pin(service, first, 'DELETE')).status).toBe(204);
    expect(await found(service, 'pinned=true')).toEqual([]);
    expect((await whole(service, first)).pinned).toBe(false); // its job is there for a while
  });

  it('have a late answer also where only the pin keeps them, and when it came while no worker looked out for it', async () => {
    const settings = { HISTORY_COUNT: 3, RESULT_TIMEOUT_MS: 500 };
    await using service = await startService({ settings });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: picksUpAndStaysSilent });
    const late = [await run(service, { uid: 1 }), await run(service, { uid: 2 })];
    for (const mockId of late) expect((await pin(service, mockId)).status).toBe(204);
    const [watched, unwatched] = client.found;
    client.does = answers();
    for (let uid = 3; uid < 7; uid++) await run(service, { uid });
    expect((await found(service, '')).filter((mockId) => late.includes(mockId))).toEqual([]);
    await forgetJobs(service, late);
    const lateOf = async (mockId = '') => (await whole(service, mockId)).lateResult;
    await watched?.answer(resultText(watched, { 'the service': { late: 1 } }));
    await eventually(async () => expect(await lateOf(late[0])).toMatchObject({ 'the service': { late: 1 } }));
    await service.workers.shift()?.stop();
    await unwatched?.answer(resultText(unwatched, { 'the service': { late: 2 } }));
    await service.addWorker();
    await eventually(async () => expect(await lateOf(late[1])).toMatchObject({ 'the service': { late: 2 } }));
    await eventually(async () => expect(await readdir(client.directory)).toEqual([]));
  });

  it('hide in their error what MASK names', async () => {
    await using service = await startService({ settings: { MASK: '7:phone' } });
    await using _client = await service.clientThat(errs('cannot call 493012345 now'), { app: 7 });
    const mockId = await run(service, { phone: 493012345 });
    expect(await whole(service, mockId)).toMatchObject({ error: 'cannot call *** now', input: { phone: '***' } });
    expect(await found(service, 'text=493012345')).toEqual([]);
    const { json } = await service.call(`/rule-server/mock/failures?app=7`);
    expect(JSON.stringify(json)).not.toContain('493012345');
  });

  it('show what a client wrote that is no result, unless fields of its app are hidden', async () => {
    const written = 'Fatal: 42 rules, no JSON';
    for (const [settings, kept] of [
      [{}, written],
      [{ MASK: '7:phone' }, null],
    ] as const) {
      await using service = await startService({ settings });
      const { sharedDir } = service;
      await using _client = await createResponder({ sharedDir, app: 7, does: answersWith(written) });
      const { text } = await service.execute({ app: 7, ruleId: 1, 'the service': {} });
      expect(text).not.toContain('42 rules'); // its caller is told what is wrong with it, not what it is
      const mockId = (await found(service, ''))[0] ?? '';
      expect(await whole(service, mockId)).toMatchObject({ written: kept, ending: { code: 'invalid-result' } });
    }
  });

  it('lose their pin when they are erased', async () => {
    await using service = await startService({});
    await using _client = await createResponder({ sharedDir: service.sharedDir, app: 7, does: answers() });
    const mockId = await run(service, { uid: 1 });
    await pin(service, mockId);
    expect((await service.call(`${EXECUTIONS}/${mockId}?erase=true`, { method: 'DELETE' })).status).toBe(200);
    expect((await service.call(`${EXECUTIONS}/${mockId}`)).status).toBe(404);
    expect(await found(service, 'pinned=true')).toEqual([]);
  });
});

async function run(service: Service, input: object): Promise<string> {
  const { json } = await service.execute({ app: 7, ruleId: 1, 'the service': input });
  await eventually(async () => expect(await found(service, '')).toContain(json.mockId));
  return json.mockId;
}

/** As three minutes after their end. */
async function forgetJobs({ backends }: Service, mockIds: readonly string[]): Promise<void> {
  const queue = backends[0]?.openQueue<JobData>(queueNames.executions);
  for (const mockId of mockIds) await queue?.erase(mockId);
  await queue?.close();
}

const pin = (service: Service, mockId: string, method = 'PUT') =>
  service.call(`${EXECUTIONS}/${mockId}/pin`, { method });

async function whole(service: Service, mockId: string) {
  const { status, json } = await service.call(`${EXECUTIONS}/${mockId}`);
  expect(status).toBe(200);
  return json;
}

async function found(service: Service, query: string): Promise<string[]> {
  const { json } = await service.call(`${EXECUTIONS}?app=7&${query}`);
  return json.items.map(({ mockId }: { mockId: string }) => mockId);
}
