import { describe, expect, it } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createResponder, staysSilent } from '../support/responder.ts';
import { startService } from '../support/start-service.ts';

const EXECUTIONS = '/rule-server/mock/executions';

describe('open executions with large inputs', () => {
  it('are listed as they are, newest first, and each one has its input', async () => {
    await using service = await startService({ leavesFiles: true });
    const { sharedDir, execute, call } = service;
    await using client = await createResponder({ sharedDir, app: 1, does: staysSilent });
    const mockIds: string[] = [];
    for (const note of ['a', 'b', 'c']) {
      const body = { app: 1, ruleId: 1, 'the service': { note: note.repeat(100_000) } };
      mockIds.unshift((await execute(body, { headers: { prefer: 'respond-async' } })).json.mockId);
    }
    await eventually(() => expect(client.found).toHaveLength(3));
    await eventually(async () => {
      const { items } = (await call(EXECUTIONS)).json;
      expect(items.map(({ mockId }: { mockId: string }) => mockId).sort()).toEqual(mockIds.toSorted());
      expect(items[0]).toMatchObject({ app: 1, ruleId: 1, target: 'all', state: 'dispatched', ending: null });
      expect(items[0].address).toBe(client.address);
    });
    expect((await call(`${EXECUTIONS}/${mockIds[0]}`)).json.input.note).toBe('c'.repeat(100_000));
  });
});
