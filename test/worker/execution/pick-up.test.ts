import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { echoes } from '../../support/echoes.ts';
import { eventually } from '../../support/eventually.ts';
import { createResponder, picksUpAndStaysSilent } from '../../support/responder.ts';
import { startService } from '../../support/start-service.ts';

it('a request that was picked up before its execution was marked as open is noticed once it is marked', async () => {
  // With events a directory is listed once a minute: nothing but the look after the mark can notice it in time.
  const settings = { POLL_INTERVAL_MS: 60_000, RESULT_TIMEOUT_MS: 20_000 };
  // The event of the request comes while the dispatch is not over, and so before the mark.
  const atStep = (step: string) => (step === 'dispatched' ? delay(200) : undefined);
  await using service = await startService({ settings, atStep });
  await using client = await createResponder({ sharedDir: service.sharedDir, app: 1, does: echoes({ afterMs: 300 }) });
  await service.execute({ app: 1, ruleId: 1 }); // its answer is the event that tells that events arrive

  client.does = picksUpAndStaysSilent;
  const call = service.execute({ app: 1, ruleId: 1 });
  await eventually(() => expect(client.found).toHaveLength(2));
  const path = `/rule-server/mock/executions/${client.found[1]?.mockId}`;
  const statesOf = async () => (await service.call(path)).json.history.map(({ state }: { state: string }) => state);
  await eventually(async () => expect(await statesOf()).toContain('picked-up'), 10_000);
  await service.call(path, { method: 'DELETE' });
  expect((await call).json).toMatchObject({ code: 'cancelled', mayHaveRun: true });
});
