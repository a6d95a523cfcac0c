import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { openPendingExecutions, watchConnection } from '../../../src/api/calls/pending-executions.ts';
import { answered, unanswered } from '../../../src/shared/contract/endings/ending.ts';
import { noAnswer } from '../../../src/shared/contract/endings/no-answer.ts';
import { toSettled } from '../../../src/shared/contract/execution-record.ts';
import type { JobResult } from '../../../src/shared/contract/job.ts';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import { addExecution, type ExecutionQueue } from '../../../src/shared/queue/queue.ts';
import { atMost } from '../../../src/shared/runtime/async.ts';
import { historyLimitsOf } from '../../../src/shared/runtime/settings/settings.ts';
import { eventually } from '../../support/eventually.ts';
import { plainJob } from '../../support/job-data.ts';
import { startRedis } from '../../support/redis.ts';
import { captureLog, quickSettings } from '../../support/start-service.ts';

const choice = inject('redis');
/** Shorter than it takes until a job is looked up again, as for an API that slept. */
const WAIT_MS = 300;
const result: JobResult = { address: 'a', success: true, body: '{"mockId":"x"}' };

describe.skipIf(choice.kind === 'unavailable')('a wait that is over when its execution has ended unheard', () => {
  it('ends with what its job came to', async () => {
    const { pending, queue, backend } = await open();
    const mockId = crypto.randomUUID();
    await addExecution(queue, mockId, data);
    const worker = backend.openWorker(queue.name, (job) => job.finish(answered(result)), { concurrency: 1 });
    worker.run();
    await eventually(async () => expect((await queue.lookUp(mockId)).kind).toBe('ended'));
    await worker.close();
    expect(await pending.wait(mockId, data, WAIT_MS)).toEqual({ kind: 'answered', result });
  });

  it('whose worker failed by a defect ends at once as one that may have run', async () => {
    const { pending, queue, backend } = await open();
    const worker = backend.openWorker(queue.name, () => Promise.reject(new Error('a defect')), { concurrency: 1 });
    onTestFinished(() => worker.close());
    worker.run();
    const mockId = crypto.randomUUID();
    const ending = pending.wait(mockId, data, 600_000);
    await addExecution(queue, mockId, { ...data, replyTo: pending.replyTo });
    expect(await ending).toMatchObject({ noAnswer: { code: 'outcome-unknown', mayHaveRun: true } });
  });

  it('ends as the history tells when its job is there no longer', async () => {
    const { pending, history } = await open();
    const mockId = crypto.randomUUID();
    await history.add(toSettled({ mockId, data, queuedAt: Date.now() }, answered(result), Date.now()));
    expect(await pending.wait(mockId, data, WAIT_MS)).toMatchObject({ kind: 'answered', result });
  });

  it('ends as another API ended it, though that recorded it only after the job had been added again', async () => {
    const { pending, history, queue } = await open();
    const mockId = crypto.randomUUID();
    const job = { ...data, replyTo: pending.replyTo };
    const ending = pending.wait(mockId, job, 600_000);
    await addExecution(queue, mockId, job);
    pending.added(mockId);
    expect(await queue.removeWaiting(mockId)).toBe(true);
    await eventually(async () => expect((await queue.lookUp(mockId)).kind).toBe('open'));
    const cancelled = unanswered(noAnswer('cancelled-in-queue', { mockId }));
    await history.add(toSettled({ mockId, data, queuedAt: Date.now() }, cancelled, Date.now()));
    expect(await ending).toMatchObject({ noAnswer: { code: 'cancelled', mayHaveRun: false } });
    await eventually(async () => expect((await queue.lookUp(mockId)).kind).toBe('missing'));
  });

  it('ends as one that nobody reported when nobody knows it', async () => {
    const { pending } = await open();
    const ending = await pending.wait(crypto.randomUUID(), data, WAIT_MS);
    expect(ending).toMatchObject({ kind: 'unanswered', noAnswer: { code: 'no-answer', mayHaveRun: true } });
  });

  it('ends as one that nobody reported when the queue store is away', async () => {
    const { pending, stopRedis } = await open();
    const ending = pending.wait(crypto.randomUUID(), data, WAIT_MS);
    await stopRedis();
    expect(await ending).toMatchObject({ kind: 'unanswered', noAnswer: { code: 'no-answer', mayHaveRun: true } });
  });
});

const data = plainJob();

async function open() {
  const redis = await startRedis(choice);
  let stopped: Promise<unknown> | undefined;
  const stopRedis = async () => {
    stopped ??= redis.stop();
    await stopped;
  };
  onTestFinished(stopRedis);
  const backend = await openQueueBackend(redis.url);
  onTestFinished(() => backend.close());
  await backend.connected;
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  const history = backend.openHistory(historyLimitsOf(quickSettings()));
  const { log } = captureLog();
  const pending = openPendingExecutions({
    backend,
    queue,
    connection: watchConnection(),
    history,
    health: { workers: 1, problems: [] },
    fence: async () => 'fenced',
    onEnded: () => {},
    log,
  });
  onTestFinished(async () => {
    await atMost(1000, Promise.allSettled([pending.close(), queue.close()])); // where the store is away already
  });
  await queue.count(); // it is connected
  return { pending, queue, history, backend, stopRedis };
}
