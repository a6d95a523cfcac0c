import { afterAll, beforeAll, expect, it } from 'vitest';
import { queueNames } from '../../../src/shared/contract/queue-names.ts';
import { type Service, startService } from '../../support/start-service.ts';

let service: Service;
beforeAll(async () => {
  service = await startService({ settings: { QUEUE_TIMEOUT_MS: 1000 } });
});
afterAll(() => service.stop());

const newest = { v: 99, claimBy: 0, what: { they: 'thought of' } };

it.each([
  ['no data of any version ends at once: nobody will ever read it', { nothing: 'of ours' }, 'outcome-unknown', true],
  ['data of a newer version ends when nobody may begin it any more', newest, 'no-worker', false],
])('a job with %s', async (_what, data, code, mayHaveRun) => {
  const [backend] = service.backends;
  const queue = backend?.openQueue<object>(queueNames.executions);
  const mockId = crypto.randomUUID();
  const claimBy = Date.now() + 700;
  await queue?.add(mockId, 'claimBy' in data ? { ...data, claimBy } : data);
  await expect
    .poll(async () => (await queue?.read(mockId))?.value, { timeout: 60_000 })
    .toMatchObject({ kind: 'unanswered', noAnswer: { code, mayHaveRun } });
  if (code === 'no-worker') expect(Date.now()).toBeGreaterThanOrEqual(claimBy);
  await queue?.close();
});
