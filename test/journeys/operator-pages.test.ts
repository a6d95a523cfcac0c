import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { onOneQueue } from '../support/on-each-queue.ts';
import { answers, createResponder, type Responder, staysSilent } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

onOneQueue('pages for operators', (start) => {
  let service: Service;
  let client: Responder;
  beforeAll(async () => {
    service = await start();
    const does = answers({ 'the service': { secretOutput: 1 } });
    client = await createResponder({ sharedDir: service.sharedDir, app: 7, does });
  });
  afterAll(async () => {
    await client?.stop();
    await service?.stop();
  });

  const execute = () => service.execute({ app: 7, ruleId: 42, 'the service': { secretInput: 1 } });

  it('the queue dashboard tells of executions and not what they are about', async () => {
    const { mockId } = (await execute()).json;
    const { status, text } = await service.call('/ops/queues/api/queues?activeQueue=executions&status=completed');
    expect(status).toBe(200);
    expect(text).toContain(mockId);
    expect(text).toContain('app 7, rule 42');
    expect(text).not.toContain('secret');
    const one = await service.call(`/ops/queues/api/queues/executions/${mockId}`);
    expect(one.json.job.externalUrl.href).toBe(`/rule-server/mock/executions/${mockId}`);
    expect(one.text).not.toContain('secret');
  });

  it('the queue dashboard names no version, no system and no address', async () => {
    const board = '/ops/queues/api';
    expect((await service.call(`${board}/redis/stats`)).status).toBe(403);
    for (const path of [`${board}/queues`, `${board}/queues/executions/workers`, `${board}/redis/stats`]) {
      const { text } = await service.call(path);
      expect(text, path).not.toMatch(/127\.0\.0\.1|::1|Linux|redis_version|"os":|"version":"\d/);
    }
  });

  it('the queue dashboard touches nothing', async () => {
    client.does = staysSilent;
    const before = client.found.length;
    const answer = execute();
    const { mockId } = await vi.waitUntil(() => client.found[before], { timeout: 60_000 });
    const queue = '/ops/queues/api/queues';
    for (const [method, path] of [
      ['PUT', `${queue}/pause`],
      ['PUT', `${queue}/executions/pause`],
      ['PUT', `${queue}/executions/empty`],
      ['PUT', `${queue}/executions/obliterate`],
      ['POST', `${queue}/executions/add`],
      ['PUT', `${queue}/executions/${mockId}/retry/completed`],
      ['PUT', `${queue}/executions/${mockId}/clean`],
      ['PATCH', `${queue}/executions/${mockId}/update-data`],
    ] as const) {
      const { status, headers } = await service.call(path, { method });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD']);
    }
    expect((await service.call('/readyz')).json.active).toBeLessThanOrEqual(1);
    await service.call(`/rule-server/mock/executions/${mockId}`, { method: 'DELETE' });
    expect((await answer).json.code).toBe('cancelled');
    expect(client.found).toHaveLength(before + 1);
    client.does = answers();
  });
});

describe('pages for operators, where there are keys', () => {
  it('need one', async () => {
    await using service = await startService({ workers: 0, settings: { API_KEYS: 'ops:0123456789abcdef' } });
    for (const path of ['/ops/queues', '/ops/queues/api/queues', '/docs', '/openapi.json', '/metrics'])
      expect((await service.call(path)).status, path).toBe(401);
    const headers = { authorization: 'Bearer 0123456789abcdef' };
    expect((await service.call('/ops/queues', { headers })).status).toBe(200);
  });
});
