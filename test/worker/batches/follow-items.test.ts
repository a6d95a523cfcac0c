import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { unanswered } from '../../../src/shared/contract/endings/ending.ts';
import { type NoAnswer, noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import { toSettled } from '../../../src/shared/contract/execution-record.ts';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import type { ExecutionQueue } from '../../../src/shared/queue/queue.ts';
import { historyLimitsOf } from '../../../src/shared/runtime/settings/settings.ts';
import { createFollowItems } from '../../../src/worker/batches/follow-items.ts';
import { eventually } from '../../support/eventually.ts';
import { plainJob } from '../../support/job-data.ts';
import { startRedis } from '../../support/redis.ts';
import { quickSettings } from '../../support/start-service.ts';

const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('an item that the queue store lost and that was added again', () => {
  it('may have run when a worker says that it refused it but could not write that', async () => {
    const ending = await endingOf(noAnswer('claims-unwritable', { why: 'ENOSPC' }));
    expect(ending).toMatchObject({ noAnswer: { code: 'outcome-unknown', mayHaveRun: true } });
  });

  it('did not run when a worker says so and could write it', async () => {
    const refusal = noAnswer('no-client-online', { app: 1 });
    expect(await endingOf(refusal)).toMatchObject({ kind: 'unanswered', noAnswer: refusal });
  });

  it('ends as an API ended it, which recorded that only after the item had been added again', async () => {
    const { history, queue, follow, mockId } = await open();
    const ending = follow();
    await eventually(async () => expect((await queue.lookUp(mockId)).kind).toBe('open'));
    const cancelled = unanswered(noAnswer('cancelled-in-queue', { mockId }));
    await history.add(toSettled({ mockId, data, queuedAt: Date.now() }, cancelled, Date.now()));
    expect(await ending).toMatchObject({ noAnswer: { code: 'cancelled', mayHaveRun: false } });
    await eventually(async () => expect((await queue.lookUp(mockId)).kind).toBe('missing'));
  });
});

const data = plainJob();

/** How the item ends when the worker that gets the job ends it with this refusal. */
async function endingOf(refusal: NoAnswer) {
  const { backend, queue, follow } = await open();
  const worker = backend.openWorker(queue.name, (job) => job.finish(unanswered(refusal)), { concurrency: 1 });
  onTestFinished(() => worker.close());
  worker.run();
  return follow();
}

async function open() {
  const redis = await startRedis(choice);
  onTestFinished(() => redis.stop());
  const backend = await openQueueBackend(redis.url);
  onTestFinished(() => backend.close());
  await backend.connected;
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  onTestFinished(() => queue.close());
  const settings = quickSettings();
  const { store } = backend;
  const history = backend.openHistory(historyLimitsOf(settings));
  const items = createFollowItems({ backend, queue, history, store, settings });
  onTestFinished(() => items.close());
  const mockId = crypto.randomUUID();
  const follow = () => items.follow({ mockId, data }, new AbortController().signal);
  return { backend, queue, history, mockId, follow };
}
