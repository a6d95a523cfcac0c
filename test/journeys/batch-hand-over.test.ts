import { describe, expect, it, vi } from 'vitest';
import { answersAfter, createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';
import { twice } from '../support/steady-calls.ts';

const CASES = 40;
const CONCURRENCY = 2;
/** A worker that stops gives its batch back at once; the rest is for a machine that is busy. */
const GOES_ON_WITHIN_MS = 8000;

describe('a batch whose worker stops', () => {
  it('goes on at once at another one: the queue store has lost nothing, so that nothing is in doubt', async () => {
    await using service = await startService({ settings: { QUEUE_TIMEOUT_MS: 10_000 } });
    const { sharedDir, call, workers } = service;
    await using client = await createResponder({ sharedDir, app: 1, does: answersAfter(100) });
    const cases = Array.from({ length: CASES }, (_, n) => ({ 'the service': { n } }));
    const { json } = await call('/rule-server/mock/batches', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ app: 1, ruleId: 1, cases, concurrency: CONCURRENCY }),
    });
    await vi.waitUntil(() => client.found.length > 4, { timeout: 60_000 });
    await service.addWorker();
    await workers.shift()?.stop();
    const onTheirWay = client.found.length + CONCURRENCY;
    await vi.waitUntil(() => client.found.length > onTheirWay, { timeout: GOES_ON_WITHIN_MS });
    await vi.waitFor(
      async () =>
        expect((await call(`/rule-server/mock/batches/${json.batchId}`)).json).toMatchObject({
          counts: { ran: CASES, pending: 0 },
        }),
      { timeout: 60_000, interval: 50 },
    );
    expect(twice(client.found)).toEqual([]);
  });
});
