import { describe, expect, inject, it, onTestFinished } from 'vitest';
import { followJobs } from '../../../src/shared/queue/follow-jobs.ts';
import { openQueueBackend } from '../../../src/shared/queue/open-queue-backend.ts';
import { eventually } from '../../support/eventually.ts';
import { startRedis } from '../../support/redis.ts';

const choice = inject('redis');

describe.skipIf(choice.kind === 'unavailable')('waiting for jobs', () => {
  it('every one of many is looked up again, however many wait before it', async () => {
    const { jobs, lookedUp } = await follow();
    const ids = Array.from({ length: 5000 }, (_, number) => `job-${number}`);
    const waits = ids.map((id) => jobs.wait(id, id, 600_000, () => 'late'));
    await eventually(() => expect(lookedUp.size).toBe(ids.length));
    for (const id of ids) jobs.settle(id, 'settled');
    expect(new Set(await Promise.all(waits))).toEqual(new Set(['settled']));
  });

  it('a call that ends while it is looked for elsewhere is not unfinished', async () => {
    const [asked, found] = [Promise.withResolvers<void>(), Promise.withResolvers<null>()];
    const { jobs, lookedUp } = await follow((): Promise<null> => {
      asked.resolve();
      return found.promise;
    });
    const wait = jobs.wait('job', 'job', 600_000, () => 'late');
    const look = jobs.lookUp('job');
    await asked.promise;
    jobs.settle('job', 'settled');
    found.resolve(null);
    await look;
    expect([await wait, ...lookedUp]).toEqual(['settled']);
  });
});

async function follow(known?: (id: string) => Promise<string | null>) {
  const redis = await startRedis(choice);
  onTestFinished(() => redis.stop());
  const backend = await openQueueBackend(redis.url);
  onTestFinished(() => backend.close());
  await backend.connected;
  const queue = backend.openQueue<string>('executions');
  const lookedUp = new Set<string>();
  const jobs = followJobs<string, string>({
    backend,
    queue,
    read: () => 'ended',
    ...(known && { known }),
    onUnfinished: async (id) => void lookedUp.add(id),
  });
  onTestFinished(async () => {
    await jobs.close();
    await queue.close();
  });
  await queue.count(); // it is connected
  return { jobs, lookedUp };
}
