import { rename } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it, vi } from 'vitest';
import { echoes } from '../../support/echoes.ts';
import { createResponder } from '../../support/responder.ts';
import { startService } from '../../support/start-service.ts';

it('a shared directory that is away for a while takes no client for gone, and no job is taken meanwhile', async () => {
  const back = Promise.withResolvers<void>();
  await using service = await startService({ settings: { RESULT_TIMEOUT_MS: 20_000, CLIENT_TIMEOUT_MS: 20_000 } });
  const { sharedDir, workers } = service;
  await using responder = await createResponder({ sharedDir, app: 1, does: echoes({ once: back.promise }) });
  await responder.stopBeating();
  const call = service.execute({ app: 1, ruleId: 1, 'the service': { number: 1 } });
  await responder.firstRequest();

  await rename(sharedDir, `${sharedDir}.away`);
  await vi.waitFor(() => expect(workers[0]?.state().takesJobs).toBe(false), 60_000);
  await delay(1000); // several listings, and longer than a client is given to take its leave in order
  await rename(`${sharedDir}.away`, sharedDir);
  back.resolve();

  expect((await call).json['the service']).toEqual({ number: 1 });
  await vi.waitFor(() => expect(workers[0]?.state().takesJobs).toBe(true), 60_000);
});

it('a shared directory that goes away just before a dispatch, and comes back: the request is dispatched then, once', async () => {
  let directory = '';
  let back: Promise<void> | undefined;
  let isAway = false;
  const settings = { RESULT_TIMEOUT_MS: 8000 };
  const goesAway = async (step: string) => {
    if (step !== 'before-dispatch' || isAway) return;
    isAway = true;
    await rename(directory, `${directory}.away`);
    await delay(700); // a handle is compared with its name again after half a second
    back = delay(1000).then(() => rename(`${directory}.away`, directory));
  };
  await using service = await startService({ settings, atStep: goesAway, logsErrors: true });
  directory = service.sharedDir;
  await using responder = await createResponder({ sharedDir: directory, app: 1, does: echoes() });
  const { status, json } = await service.execute({ app: 1, ruleId: 1, 'the service': { number: 1 } });
  await back;
  expect([status, json.error, json['the service']]).toEqual([200, null, { number: 1 }]);
  expect(responder.found).toHaveLength(1);
});
