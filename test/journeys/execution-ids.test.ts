import { describe, expect, it } from 'vitest';
import { answers, createResponder } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

/** Names of the queue store's own keys, and what else somebody may try. */
const ids = [
  'wait',
  'active',
  'events',
  'meta',
  'id',
  'marker',
  'limiter',
  'delayed',
  'completed',
  'stalled-check',
].concat(['0', '1', 'a:b', '%00', '%E2%80%A8', '..%2f..', '__proto__', '*', 'x'.repeat(4000)]);

describe('an id that no execution can have', () => {
  it('is unknown, whatever it names in the queue store, and does no harm there', async () => {
    await using service = await startService();
    await using _ = await createResponder({ sharedDir: service.sharedDir, app: 1, does: answers() });
    for (const id of ids) {
      const path = `/rule-server/mock/executions/${id}`;
      expect([id, (await service.call(path)).status]).toEqual([id, 404]);
      expect([id, (await service.call(`${path}/events`)).status]).toEqual([id, 404]);
      expect([id, (await service.call(path, { method: 'DELETE' })).status]).toEqual([id, 404]);
    }
    expect((await service.execute({ app: 1, ruleId: 1 })).status).toBe(200);
  });
});
