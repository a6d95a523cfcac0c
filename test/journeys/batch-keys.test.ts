import { describe, expect, it } from 'vitest';
import { type RunningApi, startApi } from '../../src/api/start.ts';
import type { QueueBackend } from '../../src/shared/queue/queue-backend.ts';
import { createMetrics } from '../../src/shared/runtime/telemetry/metrics.ts';
import type { BatchStore } from '../../src/shared/store/batches/batch-store.ts';
import { eventually } from '../support/eventually.ts';
import { type Answer, httpCall } from '../support/http-call.ts';
import { answers, createResponder } from '../support/responder.ts';
import { captureLog, quickSettings, type Service, startService } from '../support/start-service.ts';

const BATCHES = '/rule-server/mock/batches';
const CASES = 2;

describe('the Idempotency-Key of a batch', () => {
  it('is as good as new when the first call under it failed before the batch was kept', async () => {
    await using service = await startService({ logsErrors: true });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    await using failing = await beside(service, async () => {
      throw new Error('the store is away');
    });
    expect((await post(failing.url)).status).toBeGreaterThanOrEqual(500);
    await isRunOnce(service, await post(service.url));
    expect(client.found).toHaveLength(CASES);
  });

  it('leads to one batch, though the API of the first call goes on after a repeat was run to its end', async () => {
    await using service = await startService();
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const [reached, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await using asleep = await beside(service, async (create) => {
      reached.resolve();
      await goOn.promise;
      return create();
    });
    const first = post(asleep.url);
    first.catch(() => {}); // it is looked at below, unless the repeat is already wrong
    await reached.promise;
    const repeat = await post(service.url);
    await isRunOnce(service, repeat);
    goOn.resolve();
    expect((await first).json.batchId).toBe(repeat.json.batchId);
    await isRunOnce(service, repeat);
    const { items } = (await service.call(BATCHES)).json;
    expect(items.map(({ batchId }: { batchId: string }) => batchId)).toEqual([repeat.json.batchId]);
    expect(client.found).toHaveLength(CASES);
  });
});

type Create = (create: () => ReturnType<BatchStore['create']>) => ReturnType<BatchStore['create']>;

/** Another API of the service, which keeps new batches as it is told. */
async function beside(service: Service, does: Create): Promise<RunningApi & AsyncDisposable> {
  const backend = service.backends.at(-1);
  if (!backend) throw new Error('the service has no queue');
  const openBatches: QueueBackend['openBatches'] = (limits) => {
    const store = backend.openBatches(limits);
    return { ...store, create: (batch, cases) => does(() => store.create(batch, cases)) };
  };
  const settings = quickSettings({ SHUTDOWN_GRACE_MS: 500 });
  const { log } = captureLog();
  const api = await startApi({ settings, backend: { ...backend, openBatches }, log, metrics: createMetrics() });
  await api.ready;
  return { ...api, [Symbol.asyncDispose]: () => api.stop() };
}

function post(url: string, signal?: AbortSignal): Promise<Answer> {
  const cases = Array.from({ length: CASES }, (_, n) => ({ 'the service': { n } }));
  return httpCall(url + BATCHES, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': 'the same' },
    body: JSON.stringify({ app: 1, ruleId: 1, cases }),
    ...(signal && { signal }),
  });
}

/** A batch was taken, can be read, and each of its cases has run. */
async function isRunOnce({ call }: Service, { status, json, headers }: Answer): Promise<void> {
  expect([status, headers.location]).toEqual([202, `${BATCHES}/${json.batchId}`]);
  expect((await call(`${BATCHES}/${json.batchId}`)).status).toBe(200);
  await eventually(async () =>
    expect((await call(`${BATCHES}/${json.batchId}`)).json).toMatchObject({
      state: 'finished',
      counts: { ran: CASES, pending: 0 },
    }),
  );
}
