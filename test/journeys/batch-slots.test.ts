import { expect, it, vi } from 'vitest';
import { itemHeadSchema } from '../../src/shared/cases/batch.ts';
import { itemMockId } from '../../src/shared/cases/item-id.ts';
import { batchLimitsOf } from '../../src/shared/runtime/settings/settings.ts';
import type { BatchStore } from '../../src/shared/store/batches/batch-store.ts';
import { onEachQueue } from '../support/on-each-queue.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import type { Service } from '../support/start-service.ts';

/** A slot expires after `SLOT_MS`. A machine may be busy; without the expiry the batch would never end. */
const GOES_ON_WITHIN_MS = 50_000;
const CASES = 4;

onEachQueue('what a worker that was killed held of a client becomes free:', (start) => {
  it('the slot of an item that it had not sent yet', async () => {
    await using service = await start({ workers: 0 });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const batchId = await begin(service);
    const store = storeOf(service);
    expect(await store.acquire(slotOf(client, batchId))).toBe(true);
    await service.addWorker();
    await goesOn(service, batchId);
    expect(client.found).toHaveLength(CASES);
  });

  it('the slot of an item that had ended', async () => {
    await using service = await start({ workers: 0 });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const batchId = await begin(service);
    const store = storeOf(service);
    expect(await store.acquire(slotOf(client, batchId))).toBe(true);
    await store.begin(batchId, 1, Date.now() + 10_000);
    await store.settle(batchId, { n: 1, targetIndex: 0, head: ran, detail: null });
    await service.addWorker();
    await goesOn(service, batchId);
    expect(client.found).toHaveLength(CASES - 1);
  });
});

const ran = itemHeadSchema.parse({ verdict: 'ran', mayHaveRun: true });

/** The slot of the first item of a batch. */
const slotOf = ({ address }: Responder, batchId: string) => ({
  ...{ client: `1|${address}`, batchId, mockId: itemMockId(batchId, 0, 'all'), limit: 1 },
});

function storeOf({ backends, settings }: Service): BatchStore {
  const [backend] = backends;
  if (!backend) throw new Error('the service has no queue');
  return backend.openBatches(batchLimitsOf(settings));
}

async function begin(service: Service): Promise<string> {
  const cases = Array.from({ length: CASES }, (_, n) => ({ 'the service': { n } }));
  const answer = await service.call('/rule-server/mock/batches', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ app: 1, ruleId: 1, cases, concurrency: 1 }),
  });
  expect([answer.status, answer.text]).toEqual([202, expect.any(String)]);
  return answer.json.batchId;
}

/** A batch that waits for nothing but its client comes to its end. */
function goesOn({ call }: Service, batchId: string): Promise<void> {
  return vi.waitFor(
    async () =>
      expect((await call(`/rule-server/mock/batches/${batchId}`)).json).toMatchObject({
        state: 'finished',
        counts: { ran: CASES, pending: 0 },
      }),
    { timeout: GOES_ON_WITHIN_MS, interval: 50 },
  );
}
