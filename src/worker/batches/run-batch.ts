import { type Batch, type BatchProgress, failuresIn, itemNumber } from '../../shared/cases/batch.ts';
import { withoutData } from '../../shared/privacy/mask-item.ts';
import { skip } from '../../shared/reasons/remarks.ts';
import { startUpkeep, type Task } from '../../shared/runtime/upkeep.ts';
import { type BatchStore, CASES_PER_CHUNK } from '../../shared/store/batches/batch-store.ts';
import { createBatchSlots } from './batch-slots.ts';
import { runTarget } from './run-target.ts';
import type { BatchRun, RunTargetDependencies } from './target-run.ts';

/** Runs a batch to its end; false when the signal aborts before. Everything done is recorded for the worker that takes over. */
export async function runBatch(
  batchId: string,
  signal: AbortSignal,
  dependencies: RunTargetDependencies,
): Promise<boolean> {
  const { store, marks, cancels, privacy } = dependencies;
  const found = await store.read(batchId);
  if (found === null || found === 'gone') return true;
  const { batch, progress } = found;
  if (progress.state === 'finished' || progress.state === 'cancelled') return true;
  const stopped = progress.state === 'cancelling' ? cancelledBy(progress) : null;
  const failed = new AbortController();
  const either = AbortSignal.any([signal, failed.signal]);
  const run: BatchRun = {
    batch,
    stopped,
    failures: failuresIn(progress.counts),
    open: new Map(),
    slots: createBatchSlots(store, batchId),
    earlier: dependencies.earlierRuns(batch),
    gone: new Set(),
    signal: either,
    isCancelled: stopped !== null,
  };
  const cancelled = new Set<string>();
  /** The queue store has lost the batch. Sent items run to their end: a repeat under the key follows them by the marks. */
  let isLost = false;
  async function pollCancel(): Promise<void> {
    const now = await store.read(batchId);
    if (now === null || now === 'gone') {
      isLost = true;
      return failed.abort();
    }
    if (now.progress.state !== 'cancelling') return;
    run.stopped ??= cancelledBy(now.progress);
    run.isCancelled = true;
    for (const mockId of run.open.keys()) {
      if (cancelled.has(mockId)) continue;
      await cancels.send({ mockId, why: 'caller-left' }); // picked-up requests run to their end
      cancelled.add(mockId);
    }
  }
  const tasks: Task[] = [
    { name: 'polling for a cancel', everyMs: 250, run: pollCancel },
    { name: 'renewing slots', everyMs: 1000, run: run.slots.renew }, // several times within `SLOT_MS`
  ];
  const upkeep = startUpkeep(tasks, () => {}); // the next turn tries again
  try {
    await runTargets(run, dependencies, () => failed.abort());
  } finally {
    await upkeep.stop();
  }
  if (signal.aborted) return false;
  if (isLost) return true;
  if (await lacksEndings(batchId, store)) throw new Error('the queue store lost how some of its items ended');
  if (privacy.isOff(batch.app)) await dropCases(batch, store); // only now: a worker that takes over needs the cases until here
  const isOver =
    (await store.change(batchId, ['cancelling'], 'cancelled')) ||
    (await store.change(batchId, ['running'], 'finished'));
  if (isOver) await marks.remove(batchId);
  return true;
}

const cancelledBy = ({ why }: Pick<BatchProgress, 'why'>) => why ?? skip('batch-cancelled', {});

/** Whether items lack an ending although this worker settled all: the queue store was restored to an earlier state. */
async function lacksEndings(batchId: string, store: BatchStore): Promise<boolean> {
  const now = await store.read(batchId);
  return now !== null && now !== 'gone' && now.progress.counts.some(({ pending }) => pending > 0);
}

/** A failing target aborts the others, so that nothing is sent by a run without an owner. */
async function runTargets(run: BatchRun, dependencies: RunTargetDependencies, stop: () => void): Promise<void> {
  const runOne = (index: number) =>
    runTarget(run, index, dependencies).catch((error) => {
      stop();
      throw error;
    });
  const { targets, against } = run.batch;
  const first = against === undefined ? -1 : targets.indexOf(against);
  if (first >= 0) await runOne(first); // the others are compared with its runs
  const others = [...targets.keys()].filter((index) => index !== first).map(runOne);
  for (const target of await Promise.allSettled(others)) if (target.status === 'rejected') throw target.reason;
}

/** For an app in HISTORY_OFF only the names of the cases stay, and how each ended. */
async function dropCases({ batchId, cases: count, targets }: Batch, store: BatchStore): Promise<void> {
  for (let chunk = 0; chunk * CASES_PER_CHUNK < count; chunk++) {
    const cases = (await store.cases(batchId, chunk)).map(withoutData);
    await store.erase(batchId, { n: itemNumber({ targets }, chunk * CASES_PER_CHUNK, 0), chunk, cases });
  }
}
