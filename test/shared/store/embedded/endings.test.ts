import { randomUUID } from 'node:crypto';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { answered, type Ending, unanswered } from '../../../../src/shared/contract/endings/ending.ts';
import { noAnswer } from '../../../../src/shared/contract/endings/no-answer.ts';
import { settledOf } from '../../../../src/shared/contract/execution-record.ts';
import type { JobData } from '../../../../src/shared/contract/job.ts';
import { queueNames } from '../../../../src/shared/contract/queue-names.ts';
import { createPrivacy, maskSetting } from '../../../../src/shared/privacy/privacy.ts';
import { addExecution, type ExecutionQueue, type TakenJob } from '../../../../src/shared/queue/queue.ts';
import type { QueueBackend } from '../../../../src/shared/queue/queue-backend.ts';
import { openEmbedded } from '../../../../src/shared/queue/sqlite/sqlite-backend.ts';
import { resultKey } from '../../../../src/shared/store/history/history.ts';
import { eventually } from '../../../support/eventually.ts';

const LIMITS = { count: 1000, seconds: 60, bytes: 100_000_000 };
const MASKED = 8;
const LARGE = JSON.stringify({ success: true, text: 'secret '.repeat(10_000) });

let root = '';
let backend: QueueBackend;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'endings-'));
  backend = await openEmbedded(undefined, { folder: join(root, 'store'), flush: true, tell: () => {} });
});
afterEach(() => backend.close());

const dataOf = (app: number): JobData => ({
  ...{ v: 1, app, ruleId: '1', confId: null, ts: null, target: 'all', input: '{"name":"secret"}' },
  ...{ claimBy: Date.now() + 60_000, keyName: null },
});
const small = { address: 'one', success: true, outcome: 'TRUE', answeredAt: 1 } as const;

/** How a worker ends the executions of each test. */
const endings: Record<string, (mockId: string) => Promise<Ending>> = {
  'a small answer': async () => answered({ ...small, body: '{"success":true}' }),
  'a large answer, which waits in the store': async (mockId) => {
    await backend.store.setIfAbsent(resultKey(mockId), LARGE, 180);
    return answered({ ...small, stored: resultKey(mockId) });
  },
  'no answer': async (mockId) => unanswered(noAnswer('job-unreadable', { mockId })),
};

/** Executions that ended and are in no history, as another connection sees them at this moment. */
const UNKEPT = 'SELECT count(*) AS n FROM job WHERE ended_at IS NOT NULL AND id NOT IN (SELECT key FROM history)';

it.each(Object.entries(endings))('an execution and its record are one transaction: %s', async (_, end) => {
  const privacy = createPrivacy({ MASK: maskSetting.parse(`${MASKED}:name`), HISTORY_OFF: new Set() });
  const history = backend.openHistory(LIMITS, { privacy });
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  const ids = Array.from({ length: 40 }, () => randomUUID());
  for (const [n, id] of ids.entries()) await addExecution(queue, id, dataOf(n % 2 === 0 ? 7 : MASKED));
  const records = { settledOf, add: history.add };
  const finish = async (job: TakenJob) => job.finish(await end(job.id));
  const worker = backend.openWorker(queueNames.executions, finish, { concurrency: 4, records });

  const other = new DatabaseSync(join(root, 'store/store.db'), { readOnly: true });
  const looks: number[] = [];
  worker.run();
  for (let ended = 0; ended < ids.length; ) {
    looks.push(Number(other.prepare(UNKEPT).get()?.n));
    ended = Number(other.prepare('SELECT count(*) AS n FROM job WHERE ended_at IS NOT NULL').get()?.n);
    await setImmediate();
  }
  other.close();
  await worker.close();
  expect(looks.length).toBeGreaterThan(10);
  expect(looks.filter((unkept) => unkept > 0)).toEqual([]);
  for (const id of ids) expect((await history.get(id))?.history.at(-1)?.at).toBe((await queue.read(id))?.endedAt);
  expect(await history.result(ids[1] ?? '')).not.toContain('secret');
});

it('where the record cannot be written, the execution ends, and its worker may add it again', async () => {
  const records = { settledOf, add: () => Promise.reject(new Error('no room')) };
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  const id = randomUUID();
  await addExecution(queue, id, dataOf(7));
  const endings: unknown[] = [];
  const finish = async (job: TakenJob) => endings.push(await job.finish(answered({ ...small, body: '{}' })));
  const worker = backend.openWorker(queueNames.executions, finish, { concurrency: 1, records });
  worker.run();
  await eventually(() => expect(endings).toMatchObject([{ kind: 'finished', isRecorded: false }]));
  await worker.close();
  expect(await queue.lookUp(id)).toMatchObject({ kind: 'ended' });
});
