import { expect, it, vi } from 'vitest';
import { echoes } from '../support/echoes.ts';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const KEY = 'the-key-of-one-in-this-test';
const LONG = { ICE_ENDPOINTS: 1, RESULT_TIMEOUT_MS: 80_000, SHUTDOWN_GRACE_MS: 100 };

it.concurrent('the page of the published server has its answer before it gives up at 60 s', {
  timeout: 90_000,
}, async () => {
  await using service = await startService({ settings: LONG, leavesFiles: true });
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: picksUpAndStaysSilent });
  const since = Date.now();
  const { json } = await service.call('/ice-server/mock/execute', {
    method: 'POST',
    body: JSON.stringify({ app: 1, iceId: 7, target: `address:${client.address}` }),
  });
  expect(json).toMatchObject({ ret: 0, data: { success: false, error: 'timeout waiting for client response' } });
  expect(Date.now() - since).toBeGreaterThan(57_000);
  expect(Date.now() - since).toBeLessThan(60_000);
});

it.concurrent('an execution that runs on after that answer counts among the open calls of its key', async () => {
  await using service = await startService({
    settings: { ...LONG, API_KEYS: `one:${KEY}`, KEY_OPEN_CALLS: 1 },
    leavesFiles: true,
  });
  const told = Promise.withResolvers<void>();
  await using client = await createResponder({
    ...{ sharedDir: service.sharedDir, app: 1 },
    does: echoes({ once: told.promise }),
  });
  const execute = (server: string, rule: object) =>
    service.call(`/${server}/mock/execute`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ app: 1, ...rule, target: `address:${client.address}` }),
    });
  expect((await execute('ice-server', { iceId: 7 })).json.data.error).toBe('timeout waiting for client response');
  await new Promise((done) => setTimeout(done, 200)); // the place would be given back now
  expect([(await execute('rule-server', { ruleId: 7 })).status, client.found.length]).toEqual([429, 1]);
  told.resolve();
  await vi.waitFor(async () => expect((await execute('rule-server', { ruleId: 7 })).status).toBe(200), 20_000);
}, 120_000);
