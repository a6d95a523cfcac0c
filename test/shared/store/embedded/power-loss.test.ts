import { randomUUID } from 'node:crypto';
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JobData } from '../../../../src/shared/contract/job.ts';
import { queueNames } from '../../../../src/shared/contract/queue-names.ts';
import { addExecution, type ExecutionQueue, type TakenJob } from '../../../../src/shared/queue/queue.ts';
import type { QueueBackend } from '../../../../src/shared/queue/queue-backend.ts';
import { openEmbedded } from '../../../../src/shared/queue/sqlite/sqlite-backend.ts';

const LIMITS = { count: 1000, seconds: 60, bytes: 10_000_000 };
const data = (): JobData => ({
  ...{ v: 1, app: 7, ruleId: '1', confId: null, ts: null, target: 'all', input: '{}' },
  ...{ claimBy: Date.now() + 60_000, keyName: null },
});

let root = '';
let told: string[] = [];
const opened: QueueBackend[] = [];
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'power-'));
  told = [];
});
afterEach(async () => {
  for (const backend of opened.splice(0)) await backend.close();
});

async function open(folder: string, flush = true) {
  const backend = await openEmbedded(undefined, { folder, flush, tell: (sentence) => told.push(sentence) });
  opened.push(backend);
  const queue: ExecutionQueue = backend.openQueue(queueNames.executions);
  return { backend, queue, history: backend.openHistory(LIMITS) };
}

/** A process takes one execution of two and is killed: its folder as it was then. */
async function killedWithOneTaken({ flush = true } = {}): Promise<{ folder: string; taken: string; waiting: string }> {
  const { backend, queue } = await open(join(root, 'store'), flush);
  const [taken, waiting] = [randomUUID(), randomUUID()];
  await addExecution(queue, taken, data());
  await addExecution(queue, waiting, data());
  const begun = Promise.withResolvers<string>();
  const release = Promise.withResolvers<void>();
  const process = (job: TakenJob) => {
    begun.resolve(job.id);
    return release.promise;
  };
  const worker = backend.openWorker(queueNames.executions, process, { concurrency: 1 });
  worker.run();
  expect(await begun.promise).toBe(taken);
  const folder = join(root, 'left');
  await cp(join(root, 'store'), folder, { recursive: true });
  release.resolve();
  await worker.close();
  return { folder, taken, waiting };
}

function startMachineAnew(folder: string): void {
  const database = new DatabaseSync(join(folder, 'store.db'));
  database.exec(`UPDATE run SET value = 'another start' WHERE name = 'boot'`);
  database.close();
}

it('after a crash, what a worker had begun waits again at once, and says that it was begun', async () => {
  const { folder, taken, waiting } = await killedWithOneTaken();
  const { queue } = await open(folder);
  expect(await queue.count()).toEqual({ waiting: 2, snoozed: 0, taken: 0 });
  expect((await queue.read(taken))?.begun).toBe(true);
  expect((await queue.read(waiting))?.begun).toBe(false);
  expect(told).toEqual([]);
});

it('after a loss of power, what a worker had begun is unknown and never begins again; the rest waits', async () => {
  const { folder, taken, waiting } = await killedWithOneTaken();
  startMachineAnew(folder);
  const { queue, history } = await open(folder);
  expect(await history.get(taken)).toMatchObject({ ending: { code: 'outcome-unknown', mayHaveRun: true } });
  expect(await queue.read(taken)).toBeNull();
  expect(await queue.read(waiting)).toMatchObject({ begun: false, endedAt: null });
  expect(told).toEqual([expect.stringMatching(/^The machine went down while executions ran: 1 of them/)]);
});

it('where nothing was flushed, all that had not ended is unknown after a loss of power', async () => {
  const { folder, taken, waiting } = await killedWithOneTaken({ flush: false });
  startMachineAnew(folder);
  const { queue, history } = await open(folder);
  for (const mockId of [taken, waiting]) {
    expect(await history.get(mockId)).toMatchObject({ ending: { code: 'outcome-unknown' } });
    expect(await queue.read(mockId)).toBeNull();
  }
});

it('a run that ended by itself leaves no doubt, also when the machine was started anew', async () => {
  const { backend, queue } = await open(join(root, 'store'));
  const mockId = randomUUID();
  await addExecution(queue, mockId, data());
  await backend.close();
  opened.pop();
  startMachineAnew(join(root, 'store'));
  const { queue: again } = await open(join(root, 'store'));
  expect(await again.read(mockId)).toMatchObject({ begun: false, endedAt: null });
  expect(told).toEqual([]);
});
