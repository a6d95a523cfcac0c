import { describe, expect, it, vi } from 'vitest';
import { itemHeadSchema } from '../../src/shared/cases/batch.ts';
import { itemMockId } from '../../src/shared/cases/item-id.ts';
import { batchLimitsOf } from '../../src/shared/runtime/settings/settings.ts';
import type { BatchStore } from '../../src/shared/store/batches/batch-store.ts';
import { eventually } from '../support/eventually.ts';
import { answers, createResponder, type Responder } from '../support/responder.ts';
import { type Service, startService } from '../support/start-service.ts';

/** A slot expires after `SLOT_MS`. A machine may be busy; without the expiry the batch would never end. */
const GOES_ON_WITHIN_MS = 50_000;
const CASES = 4;

type Left = (store: BatchStore, batchId: string) => Promise<unknown>;
const isBegun: Left = (store, batchId) => store.begin(batchId, 1, Date.now() + 10_000);

describe('what a worker that was killed held of a client becomes free:', () => {
  it.each<[what: string, left: Left, runs: number]>([
    ['had not sent yet', async () => {}, CASES],
    ['had begun, and it runs once', isBegun, CASES],
    [
      'had ended',
      async (store, batchId) => {
        await isBegun(store, batchId);
        await store.settle(batchId, { n: 1, targetIndex: 0, head: ran, detail: null });
      },
      CASES - 1,
    ],
  ])('the slot of an item that it %s', async (_, left, runs) => {
    await using service = await startService({ workers: 0 });
    await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    const batchId = await begin(service);
    const store = storeOf(service);
    expect(await store.acquire(slotOf(client, batchId))).toBe(true);
    await left(store, batchId);
    await service.addWorker();
    await goesOn(service, batchId);
    expect(client.found).toHaveLength(runs);
    await eventually(async () =>
      expect((await service.call('/metrics')).text).toContain('rule_server_batches_running 0'),
    );
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
