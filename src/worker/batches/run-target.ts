import { setTimeout as sleep } from 'node:timers/promises';
import { type Batch, type ItemHead, itemNumber } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import { JOB_VERSION, type JobData } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { parseTarget } from '../../shared/contract/target.ts';
import type { Settings } from '../../shared/runtime/settings.ts';
import { type BatchStore, CASES_PER_CHUNK } from '../../shared/store/batch-store.ts';
import { addExecution } from '../../shared/store/job-heads.ts';
import type { ExecutionQueue } from '../../shared/store/queue-backend.ts';
import type { Clients } from '../clients/clients.ts';
import type { Claims } from '../files/claim.ts';
import { CLAIM_KEPT_MS } from '../files/claim-minutes.ts';
import type { ResolveTarget } from '../placement/resolve-target.ts';
import type { ClientPace } from './client-pace.ts';
import { claimMayBeSwept, type FollowItems, type Item, type ItemEnding, unknownOutcome } from './follow-items.ts';
import { itemOfEnding, skippedItem } from './item-of-ending.ts';
import { MARK_MS, type Mark, type Marks } from './marks.ts';

const ASK_AGAIN_MS = 25;
const UNANSWERED_IN_A_ROW = 3;
const MINUTE_MS = 60_000;
/** An item has so much longer than a call to be begun: a worker that took over a batch may have to send it again. */
const TIMEOUT_FACTOR = 2;

export type RunTargetDependencies = {
  store: BatchStore;
  queue: ExecutionQueue;
  followItems: FollowItems;
  claims: Claims;
  clients: Clients;
  marks: Marks;
  pace: ClientPace;
  resolveTarget: ResolveTarget;
  settings: Settings;
};

/** What all targets of a batch share: why it stops, if it does, and what has gone wrong so far. */
export type BatchRun = {
  batch: Batch;
  stopped: string | null;
  failures: number;
  /** Executions that are on their way. */
  open: Set<string>;
  signal: AbortSignal;
};

type Chosen = { key: string; target: string; address: string | null; limit: number };

/** Runs the cases of a batch on one of its targets. Ends when every item has its verdict, or the signal aborts. */
export async function runTarget(
  run: BatchRun,
  targetIndex: number,
  dependencies: RunTargetDependencies,
): Promise<void> {
  const { store, queue, followItems, claims, clients, marks, pace, resolveTarget, settings } = dependencies;
  const { batch, signal } = run;
  const { batchId, app } = batch;
  const target = batch.targets[targetIndex] ?? 'all';
  const inFlight = new Set<Promise<void>>();
  const inARow = new Map<string, number>();
  const earlier = await marks.read(batchId, targetIndex);
  let mark: Mark | null = null;
  let stopped: string | null = null;
  let failure: unknown;
  const begunWithinMs = settings.QUEUE_TIMEOUT_MS * TIMEOUT_FACTOR;

  for (let chunk = 0; chunk * CASES_PER_CHUNK < batch.cases && !signal.aborted; chunk++) {
    const cases = await store.cases(batchId, chunk);
    const first = chunk * CASES_PER_CHUNK;
    const heads = await headsOf(first, cases.length);
    for (const [offset, one] of cases.entries()) {
      const head = heads[offset];
      if (signal.aborted || failure !== undefined) break;
      if (head?.verdict === 'pending') await carryOn(one, first + offset, head);
    }
  }
  await Promise.all(inFlight);
  if (failure !== undefined) throw failure;

  async function headsOf(first: number, count: number): Promise<ItemHead[]> {
    const from = itemNumber(batch, first, targetIndex);
    const to = itemNumber(batch, first + count - 1, targetIndex);
    const all = await store.heads(batchId, from, to);
    return all.filter((_, index) => index % batch.targets.length === 0);
  }

  async function carryOn(one: Case, index: number, head: ItemHead): Promise<void> {
    const mockId = itemMockId(batchId, index, target);
    if (head.claimBy !== null) return launch(one, index, { mockId, claimBy: head.claimBy, chosen: null });
    const isMarked = earlier.some(({ upTo }) => index < upTo);
    const doubt = isMarked ? await resolveDoubt(index, mockId) : 'not-sent';
    if (doubt === 'unknown') {
      // Nothing is known of the client, so it is no reason to stop.
      const ending = unknownOutcome(mockId, 'the queue store lost what became of it');
      return void (await keep(index, itemOfEnding(one, ending).head));
    }
    if (typeof doubt === 'number')
      return launch(one, index, {
        mockId,
        claimBy: await store.begin(batchId, itemNumber(batch, index, targetIndex), doubt),
        chosen: null,
      });
    const skip = one.skip ? 'skip: true' : (stopped ?? run.stopped);
    if (skip !== null) return void (await keep(index, skippedItem(skip)));
    const chosen = await permit(mockId);
    if (chosen === null)
      return signal.aborted ? undefined : void (await keep(index, skippedItem(stopped ?? run.stopped ?? 'stopped')));
    await launch(one, index, { mockId, claimBy: await noteSending(index), chosen });
  }

  /**
   * An item below an earlier mark that nobody knows to have been sent. If the queue store lost data, it may have been: a
   * claim says so. Without one it was not, once nobody can claim any more, unless claims of that time may have been swept.
   */
  async function resolveDoubt(index: number, mockId: string): Promise<'not-sent' | 'unknown' | number> {
    const [oldest] = earlier.filter(({ upTo }) => index < upTo);
    const latest = earlier.at(-1);
    if (!oldest || !latest) return 'not-sent';
    if (claimMayBeSwept(oldest.at + begunWithinMs)) return 'unknown';
    const found = await claims.findAnywhere(mockId);
    if (found?.kind === 'claimed') return claimByOf(mockId, oldest.at);
    const nobodyClaimsAfter = latest.until + begunWithinMs;
    while (Date.now() <= nobodyClaimsAfter && !signal.aborted) await pause(nobodyClaimsAfter - Date.now() + 1);
    return (await claims.findAnywhere(mockId)) === null ? 'not-sent' : claimByOf(mockId, oldest.at);
  }

  /** The time a claim was made for, to its minute, which is what it is found by. */
  async function claimByOf(mockId: string, from: number): Promise<number | 'unknown'> {
    for (let at = from; at <= Date.now() + CLAIM_KEPT_MS; at += MINUTE_MS) {
      if ((await claims.find({ mockId, claimBy: at })) !== null) return at;
    }
    return 'unknown';
  }

  /** Waits until a client may have one more item; null when the target is stopped meanwhile. */
  async function permit(mockId: string): Promise<Chosen | null> {
    while (goesOn()) {
      const chosen = await choose();
      const held = { client: chosen.key, batchId, mockId };
      if (!(await store.acquire({ ...held, limit: chosen.limit }))) await pause(ASK_AGAIN_MS);
      else if (goesOn()) return chosen;
      else await store.release(held); // the item before it has stopped the target meanwhile
    }
    return null;
  }

  function goesOn(): boolean {
    return stopped === null && run.stopped === null && !signal.aborted && failure === undefined;
  }

  async function choose(): Promise<Chosen> {
    const parsed = parseTarget(target);
    const anybody = { key: `${app}|${target}`, target, address: null, limit: batch.concurrency };
    if (parsed.kind === 'malformed') return anybody;
    const resolved = await resolveTarget(app, parsed);
    if (resolved.kind === 'refused') return anybody; // the execution will be told why
    resolved.release();
    const { address } = resolved.client;
    const key = `${app}|${address}`;
    return {
      key,
      target: `address:${address}`,
      address,
      limit: pace.limitFor(resolved.client, key, batch.concurrency),
    };
  }

  /** Marks the item, then notes until when it may be begun: the same time for every attempt, so that all share one claim. */
  async function noteSending(index: number): Promise<number> {
    if (mark === null || index >= mark.upTo || Date.now() >= mark.until - MARK_MS / 10)
      mark = await marks.raise(batchId, targetIndex, index);
    const claimBy = Math.min(Date.now(), mark.until) + begunWithinMs;
    return store.begin(batchId, itemNumber(batch, index, targetIndex), claimBy);
  }

  async function launch(
    one: Case,
    index: number,
    { mockId, claimBy, chosen }: { mockId: string; claimBy: number; chosen: Chosen | null },
  ): Promise<void> {
    const { ruleId, confId, keyName } = batch;
    const ids = { v: JOB_VERSION, app, ruleId, confId, ts: one.ts, target: chosen?.target ?? target };
    const data: JobData = { ...ids, input: one.input, claimBy, keyName, batchId };
    run.open.add(mockId);
    const finished: Promise<void> = send({ mockId, data }, chosen !== null)
      .then(() => followItems.follow({ mockId, data }, signal))
      .then((ending) => (ending ? settle(one, index, ending, chosen) : undefined))
      .finally(() => (chosen ? store.release({ client: chosen.key, batchId, mockId }) : undefined))
      .catch((error) => {
        failure ??= error;
      })
      .finally(() => {
        run.open.delete(mockId);
        inFlight.delete(finished);
      });
    inFlight.add(finished);
    // What was sent before this worker took over is waited for a few at a time.
    if (chosen === null && inFlight.size >= batch.concurrency) await Promise.race(inFlight);
  }

  async function send({ mockId, data }: Item, isNew: boolean): Promise<void> {
    // What was sent before is only looked for: when the queue lost it, it is added again as such.
    if (isNew) await addExecution(queue, mockId, data).catch(() => {});
  }

  async function settle(one: Case, index: number, ending: ItemEnding, chosen: Chosen | null): Promise<void> {
    const { head, detail } = itemOfEnding(one, ending);
    const isNew = await keep(index, head, detail);
    if (chosen && ending.kind === 'answered') pace.answered(chosen.key, ending.result);
    // The permit of a worker that died would else keep a place at the client until it lapses.
    const address = ending.kind === 'answered' ? ending.result.address : ending.noAnswer.address;
    if (!chosen && address)
      await store.release({ client: `${app}|${address}`, batchId, mockId: itemMockId(batchId, index, target) });
    if (isNew) await judgeTarget(head, ending, chosen);
  }

  async function keep(
    index: number,
    head: ItemHead,
    detail: ReturnType<typeof itemOfEnding>['detail'] = null,
  ): Promise<boolean> {
    return store.settle(batchId, { n: itemNumber(batch, index, targetIndex), targetIndex, head, detail });
  }

  /** Whether the rest of the target, or of the batch, is better left alone. */
  async function judgeTarget(head: ItemHead, ending: ItemEnding, chosen: Chosen | null): Promise<void> {
    if (head.verdict !== 'passed' && head.verdict !== 'skipped') run.failures++;
    if (batch.stopAfterFailures !== null && run.failures >= batch.stopAfterFailures)
      run.stopped ??= `stopped after ${run.failures} cases that did not pass`;
    const who = head.address ?? chosen?.address ?? target;
    if (head.verdict === 'skipped') return;
    if (ending.kind === 'answered') {
      inARow.set(who, 0);
      return;
    }
    const count = (inARow.get(who) ?? 0) + 1;
    inARow.set(who, count);
    if (await clientDied(ending.noAnswer, who)) stopped ??= `stopped: client ${who} ended while it ran a case`;
    else if (count >= UNANSWERED_IN_A_ROW)
      stopped ??= `stopped after ${count} cases in a row without an answer from ${who}`;
  }

  /** A rule that ends its client's process would end the next one as well. */
  async function clientDied({ code, mayHaveRun, error }: NoAnswer, address: string): Promise<boolean> {
    if (code === 'invalid-result' && error.includes('literal null')) return true;
    if (!mayHaveRun || (code !== 'no-answer' && code !== 'client-left')) return false;
    const roster = await clients.roster(app, { fresh: true }).catch(() => null);
    return roster !== null && !roster.clients.some((client) => client.address === address && client.online);
  }

  function pause(ms: number): Promise<void> {
    return sleep(ms, undefined, { signal }).catch(() => {});
  }
}
