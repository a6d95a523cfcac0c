import { type ItemDetail, type ItemHead, itemNumber } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import { type Conclusion, conclusionOf } from '../../shared/conclusions/conclusion.ts';
import { itemOfAnswer, itemWithoutAnswer, skippedItem } from '../../shared/conclusions/item-of-answer.ts';
import { type JobData, jobVersion } from '../../shared/contract/job.ts';
import { random } from '../../shared/ports/process.ts';
import { time } from '../../shared/ports/time.ts';
import { maskOutcome, withoutOutcome } from '../../shared/privacy/mask-item.ts';
import { addExecution } from '../../shared/queue/queue.ts';
import { type SkipReason, skip } from '../../shared/reasons/remarks.ts';
import { CASES_PER_CHUNK } from '../../shared/store/batches/batch-store.ts';
import { acquireSlot } from './acquire-slot.ts';
import type { Side } from './earlier-runs.ts';
import { type ItemEnding, unknownItem } from './follow-items.ts';
import { MARK_MS } from './high-water-marks.ts';
import { judgeTarget, NOT_THE_CLIENT } from './judge-target.ts';
import { resolveDoubt } from './resolve-doubt.ts';
import type { BatchRun, Chosen, RunTargetDependencies, TargetRun } from './target-run.ts';

/** How much longer than a call an item may wait to be begun: a worker that takes a batch over may have to send it again. */
const TIMEOUT_FACTOR = 2;
/** How many items of a dead worker are followed at once. */
const FOLLOWED_AT_ONCE = 100;

/** A case of this target, by its place in the batch, and the id of its execution. */
type ItemPlace = { one: Case; index: number; mockId: string };
type Sent = ItemPlace & { claimBy: number; chosen: Chosen | null };

/** Runs the cases of a batch on one of its targets. Ends when every item has its verdict, or the signal aborts. */
export async function runTarget(
  run: BatchRun,
  targetIndex: number,
  dependencies: RunTargetDependencies,
): Promise<void> {
  const { store, marks, settings } = dependencies;
  const { batchId, targets, cases: count } = run.batch;
  const target = targets[targetIndex] ?? 'all';
  const self: TargetRun = {
    ...dependencies,
    ...{ run, targetIndex, target, mark: null, stopped: null, failure: undefined, storeRunNow: undefined },
    earlier: await marks.read(batchId, targetIndex),
    begunWithinMs: settings.QUEUE_TIMEOUT_MS * TIMEOUT_FACTOR,
    inFlight: new Set(),
    inARow: new Map(),
  };
  for (let first = 0; first < count && !run.signal.aborted; first += CASES_PER_CHUNK) {
    const cases = await store.cases(batchId, first / CASES_PER_CHUNK);
    const heads = await headsOf(self, first, cases.length);
    if (self.earlier.length > 0) self.storeRunNow = await dependencies.storeRun.ask();
    for (const [offset, one] of cases.entries()) {
      const head = heads[offset];
      if (run.signal.aborted || self.failure !== undefined) break;
      const index = first + offset;
      if (head?.verdict === 'pending')
        await carryOn(self, { one, index, mockId: itemMockId(batchId, index, target) }, head);
    }
  }
  await Promise.all(self.inFlight);
  if (self.failure !== undefined) throw self.failure;
}

async function headsOf({ run: { batch }, targetIndex, store }: TargetRun, first: number, count: number) {
  const from = itemNumber(batch, first, targetIndex);
  const to = itemNumber(batch, first + count - 1, targetIndex);
  const all = await store.heads(batch.batchId, from, to);
  return all.filter((_, index) => index % batch.targets.length === 0);
}

async function carryOn(self: TargetRun, place: ItemPlace, { claimBy }: ItemHead): Promise<void> {
  const { run } = self;
  const { one, index, mockId } = place;
  if (claimBy !== null) return launch(self, { ...place, claimBy, chosen: null });
  const doubt = await resolveDoubt(self, index, mockId);
  if (doubt.kind === 'unknown') {
    // This ending is not the client's fault, so it is no reason to stop.
    const ending = unknownItem(mockId, 'lost-its-fate');
    return void (await keep(self, index, await itemOf(self, { ...place, chosen: null }, ending)));
  }
  if (doubt.kind === 'sent') return launch(self, { ...place, claimBy: doubt.claimBy, chosen: null });
  const why = one.skip ? skip('skip-asked', {}) : (self.stopped ?? run.stopped);
  if (why !== null) return leaveOut(self, place, why);
  const chosen = await acquireSlot(self, { mockId, input: one.input, target: self.target, isDry: run.batch.dryRun });
  if (chosen !== null) {
    const claimBy = await markSending(self, index, doubt.claimFrom);
    return launch(self, { ...place, claimBy, chosen });
  }
  const stopped = self.stopped ?? run.stopped;
  // Where an error of the service ended the run instead, whoever tries the batch again runs the item.
  if (stopped !== null && !run.signal.aborted) await leaveOut(self, place, stopped);
}

/** Skips an item, unless the previous worker of the batch was only suspended and sends it after all: then the item is followed. */
async function leaveOut(self: TargetRun, place: ItemPlace, why: SkipReason): Promise<void> {
  if (await keep(self, place.index, { head: leftOut(self, why), unlessBegun: true })) return;
  const [head] = await headsOf(self, place.index, 1);
  if (head?.verdict === 'pending' && head.claimBy !== null)
    await launch(self, { ...place, claimBy: head.claimBy, chosen: null });
}

/** Puts the item below a high-water mark, and returns until when it may be begun: `claimFrom` or later, but within its mark. */
async function markSending(self: TargetRun, index: number, claimFrom: number): Promise<number> {
  const { marks, run, targetIndex, begunWithinMs, storeRun } = self;
  let { mark } = self;
  const from = claimFrom - begunWithinMs;
  if (mark === null || index >= mark.upTo || mark.at < from || time.now() >= mark.until - MARK_MS / 10)
    mark = await marks.raise(run.batch.batchId, targetIndex, { index, run: storeRun.last() ?? '', from });
  self.mark = mark;
  return Math.min(Math.max(time.now(), mark.at), mark.until) + begunWithinMs;
}

/** Records until when an item may be begun: the same time for every attempt, so that all share one claim. Null when it is settled. */
function recordBegin(
  { store, run: { batch }, targetIndex }: TargetRun,
  { index, claimBy }: Sent,
): Promise<number | null> {
  return store.begin(batch.batchId, itemNumber(batch, index, targetIndex), claimBy);
}

/** Follows an item to its end, concurrently with the others. `chosen` is null for an item that an earlier worker sent. */
async function launch(self: TargetRun, sent: Sent): Promise<void> {
  const { run, inFlight, targetIndex } = self;
  const { mockId, chosen } = sent;
  run.open.set(mockId, targetIndex);
  const finished: Promise<void> = seeToEnd(self, sent)
    .then((ending) => (ending ? settle(self, sent, ending) : undefined))
    .finally(() => (chosen ? run.slots.release(chosen.key, mockId) : undefined))
    .catch((error) => {
      self.failure ??= error;
    })
    .finally(() => {
      run.open.delete(mockId);
      inFlight.delete(finished);
    });
  inFlight.add(finished);
  // Items that were sent before this worker took over do not hold up the others, unless there are very many of them.
  if (chosen === null && inFlight.size >= FOLLOWED_AT_ONCE) await Promise.race(inFlight);
}

async function seeToEnd(self: TargetRun, sent: Sent): Promise<ItemEnding | null> {
  const { run } = self;
  const { one, index, mockId, chosen } = sent;
  const { once, dryRun } = run.batch;
  const claimBy = await recordBegin(self, sent);
  if (claimBy === null || run.signal.aborted) return null; // another worker may have the batch by now, and goes on from the record
  const ofKey = once && { once: { ...once, key: itemMockId(once.key, index, self.target) } };
  const { input, ts } = one;
  const data = { ...jobOf(run, { target: chosen?.target ?? self.target, dryRun, input, ts, claimBy }), ...ofKey };
  // An item that was sent before is only looked for. If the queue lost it, it is re-enqueued as such.
  if (chosen) await send(self, mockId, data);
  return self.followItems.follow({ mockId, data }, run.signal);
}

type Asked = Pick<JobData, 'target' | 'input' | 'ts' | 'claimBy'> & { dryRun: boolean };

function jobOf({ batch }: BatchRun, { dryRun, ...asked }: Asked): JobData {
  const { app, ruleId, confId, keyName, batchId } = batch;
  const dry = dryRun ? { dryRun: { stub: '{}' } } : {};
  return { v: jobVersion(dry), app, ruleId, confId, keyName, batchId, ...dry, ...asked };
}

/** A failed add is ignored: the follower re-enqueues the execution. */
async function send({ queue, followItems, storeRun }: TargetRun, mockId: string, data: JobData): Promise<void> {
  const toSend = { ...data, replyTo: followItems.replyTo, storeRun: storeRun.last() };
  await addExecution(queue, mockId, toSend).catch(() => {});
}

async function settle(self: TargetRun, sent: Sent, ending: ItemEnding): Promise<void> {
  const { pace } = self;
  const { index, chosen } = sent;
  const item = itemUnlessStopped(self, await itemOf(self, sent, ending));
  if (self.run.signal.aborted) return; // the comparison may be incomplete: another worker judges the item
  const isNew = await keep(self, index, item);
  if (chosen && ending.kind === 'answered') pace.answered(chosen.paceKey, ending.result);
  if (isNew) await judgeTarget(self, item.head, { ending, chosen });
}

/** Whether an item counts as skipped: it was sent and did not run, and its target was stopped meanwhile. */
function itemUnlessStopped({ stopped, run }: TargetRun, item: Kept): Kept {
  const { verdict, mayHaveRun } = item.head;
  const didNotRun = verdict === 'skipped' || (verdict === 'unanswered' && !mayHaveRun);
  return stopped !== null && didNotRun ? { head: leftOut({ run }, stopped) } : item;
}

const leftOut = ({ run }: Pick<TargetRun, 'run'>, why: SkipReason): ItemHead =>
  skippedItem(why, run.isCancelled && why === run.stopped ? 'cancelled' : null);

type Kept = { head: ItemHead; detail?: ItemDetail | null; unlessBegun?: boolean };

/** False when the item has a verdict already; with `unlessBegun` also when a worker may have sent it. */
async function keep(self: TargetRun, index: number, { detail = null, ...kept }: Kept): Promise<boolean> {
  const { batch } = self.run;
  const n = itemNumber(batch, index, self.targetIndex);
  const isNew = await self.store.settle(batch.batchId, { n, targetIndex: self.targetIndex, detail, ...kept });
  if (isNew) self.onSettled(kept.head.verdict);
  return isNew;
}

type Judged = Omit<Sent, 'claimBy'>;
type Item = { head: ItemHead; detail: ItemDetail | null };

/** The record of an ended item: masked (MASK), and for apps in HISTORY_OFF only how it ended. */
async function itemOf(self: TargetRun, sent: Judged, ending: ItemEnding): Promise<Item> {
  const { run, privacy } = self;
  const { app } = run.batch;
  const item =
    ending.kind === 'unanswered'
      ? { head: itemWithoutAnswer(ending.noAnswer), detail: null }
      : await judged(self, sent, ending);
  if (privacy.isOff(app)) return { head: withoutOutcome(item.head), detail: null };
  const mask = privacy.maskFor(app);
  if (mask === null) return item;
  mask.data(sent.one.input);
  if (ending.kind === 'answered') mask.answer(ending.body); // collects the hidden values, so that an error that quotes one is masked
  return maskOutcome(item, mask);
}

/** Judged by the run that it repeats, by that of the target it is compared with, or by what is expected of it. If it differs, that run is made again. */
async function judged(
  self: TargetRun,
  { one, index, mockId, chosen }: Judged,
  { result, body, tookMs }: Extract<ItemEnding, { kind: 'answered' }>,
): Promise<Item> {
  const { target, run } = self;
  const { batchId, against, ignore, targets } = run.batch;
  const { success, address, rules = null } = result;
  const isCompared = against !== undefined && against !== target && targets.includes(against);
  const of = isCompared ? itemMockId(batchId, index, against) : one.of;
  const answer = { body, success, address, rules, tookMs };
  if (of === undefined) return itemOfAnswer(one, answer, { ignore, facts: await run.earlier.facts() });
  const { side, ...by } = await run.earlier.read(of);
  const item = itemOfAnswer(one, answer, { ignore, ...by });
  if (item.head.verdict !== 'changed' || side === null) return item;
  if (chosen) await run.slots.release(chosen.key, mockId); // its client may be the one that the earlier run came from
  const again = await runAgain(self, { ...side, ...(isCompared && { target: against }) });
  return again === null ? item : itemOfAnswer(one, answer, { ignore, ...by, again });
}

/**
 * Runs the input of an earlier run again where that came from, as of the same time, to see whether it differs from itself. Always a dry run: no
 * effect is repeated for that. Null where those rules are not there any more, or where no client can run without effects.
 */
async function runAgain(self: TargetRun, side: Side): Promise<Conclusion | null> {
  const { run, followItems, begunWithinMs } = self;
  const { input, ts, target, digest, derivedFrom, facts } = side;
  const mockId = random.uuid();
  const chosen = run.gone.has(digest) ? null : await acquireSlot(self, { mockId, input, target, isDry: true });
  if (chosen === null) return null;
  run.open.set(mockId, null);
  try {
    const asked = { target: chosen.target, dryRun: true, input, ts, claimBy: time.now() + begunWithinMs };
    const data = { ...jobOf(run, asked), derivedFrom };
    await send(self, mockId, data);
    const ending = await followItems.follow({ mockId, data }, run.signal);
    if (ending?.kind === 'answered' && ending.result.rules?.digest === digest)
      return conclusionOf({ input, body: ending.body, success: ending.result.success, facts });
    if (ending?.kind === 'answered' || (ending && !NOT_THE_CLIENT.includes(ending.noAnswer.code))) run.gone.add(digest);
    return null;
  } finally {
    run.open.delete(mockId);
    await run.slots.release(chosen.key, mockId);
  }
}
