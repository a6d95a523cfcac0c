import { expect, it } from 'vitest';
import { createResponder, picksUpAndStaysSilent } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

it('the page of the published server has its answer before it gives up at 60 s', { timeout: 90_000 }, async () => {
  await using service = await startService({
    settings: { ICE_ENDPOINTS: 1, RESULT_TIMEOUT_MS: 80_000, SHUTDOWN_GRACE_MS: 100 },
    leavesFiles: true,
  });
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
