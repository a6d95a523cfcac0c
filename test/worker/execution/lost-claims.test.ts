import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { JOB_VERSION, type JobData } from '../../../src/shared/contract/job.ts';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import type { ExecutionQueue } from '../../../src/shared/queue/queue.ts';
import { createResponder, picksUpAndStaysSilent } from '../../support/responder.ts';
import { type Service, startService } from '../../support/start-service.ts';

describe('of an execution whose claim is there no longer nobody says that it did not run:', () => {
  it('one that its client has, resumed after the claims were removed', async () => {
    await using service = await startService({ settings: { QUEUE_TIMEOUT_MS: 1000 }, leavesFiles: true });
    const { sharedDir, workers } = service;
    await using client = await createResponder({ sharedDir, app: 1, does: picksUpAndStaysSilent });
    const began = Date.now();
    const answer = service.execute({ app: 1, ruleId: 1 });
    await client.firstRequest();
    await vi.waitUntil(() => Date.now() > began + 1500, { timeout: 60_000 });

    const claims = join(sharedDir, '.rule-server/claims');
    for (const minute of await readdir(claims)) await rm(join(claims, minute), { recursive: true });
    await workers.shift()?.stop();
    await service.addWorker();

    expect((await answer).json).toMatchObject({ code: 'outcome-unknown', mayHaveRun: true });
    expect(client.found).toHaveLength(1);
  });

  it('one that the queue kept for longer than claims are kept', async () => {
    await using service = await startService();
    const { mockId, queue } = await queued(service, { claimBy: Date.now() - 11 * 60_000 });
    await expect
      .poll(async () => (await queue.read(mockId))?.value, { timeout: 60_000 })
      .toMatchObject({ noAnswer: { code: 'outcome-unknown', mayHaveRun: true } });
    await queue.close();
  });
});

/** A job as the queue store may bring it back after a long time. */
async function queued({ backends }: Service, { claimBy }: Pick<JobData, 'claimBy'>) {
  const queue: ExecutionQueue | undefined = backends[0]?.openQueue(queueNames.executions);
  if (!queue) throw new Error('the service has no queue');
  const mockId = crypto.randomUUID();
  const ids = { app: 1, ruleId: '1', confId: null, ts: null };
  const data = { v: JOB_VERSION, ...ids, target: 'all', input: '{}', claimBy, keyName: null };
  await queue.add(mockId, data);
  return { mockId, queue };
}
