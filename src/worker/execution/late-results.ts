import { LRUCache } from 'lru-cache';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { rulesOnceAnswered } from '../../shared/contract/rules-of-run.ts';
import { createThrottledAlert, type Logger, type ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { Claim, Claims } from '../files/claims/claims.ts';
import type { Mailbox } from '../files/mailbox.ts';
import { noResult } from '../files/results/result-file.ts';
import type { Inspections } from '../placement/inspections.ts';
import type { KeptTrees } from '../rules/kept-trees.ts';
import { treeAsked } from './begin.ts';

type LateResultsDependencies = {
  claims: Pick<Claims, 'findAnywhere'>;
  /** A pinned execution may be gone from all but its pins. */
  history: Pick<History, 'get' | 'addLateResult' | 'pins'>;
  inspections: Pick<Inspections, 'isReleased'>;
  keptTrees: Pick<KeptTrees, 'use'>;
  mailbox: Mailbox;
  /** Whether answers of an app are not kept. */
  keepsNothing: (app: number) => boolean;
  log: Logger;
};

const MAX_SEEN = 10_000;

/**
 * Keeps answers that come after their execution ended without one: timed out, cancelled, or with a client that seemed to have left. The sweep
 * finds them (`upkeep/sweep.ts`), within a minute. What is no answer is removed once it has not changed from one sweep to the next.
 */
export function createLateResults(dependencies: LateResultsDependencies) {
  const { claims, log } = dependencies;
  /** What lay in the place of an answer at the last sweep, and was none: its stamp. */
  const seen = new LRUCache<string, string>({ maxSize: MAX_SEEN, sizeCalculation: () => 1 });
  const removal = createThrottledAlert(log, 'Files of late results cannot be removed');

  return {
    /** A result was found that no worker may be waiting for. Resolves to whether it stays, because it may still become an answer. */
    async keep(mockId: string): Promise<boolean> {
      const record = await recordOf(mockId, dependencies);
      if (!record || !mayComeLate(record)) return false;
      const decision = await claims.findAnywhere(mockId);
      if (decision?.kind !== 'claimed') return false;
      await keepIfAnswered(decision.claim, record, { ...dependencies, seen, removal });
      return true;
    },
  };
}

type Parts = LateResultsDependencies & { seen: LRUCache<string, string>; removal: ThrottledAlert };

/** Whether an execution ended without an answer, though its client may have run it. */
function mayComeLate({ ending, lateResult }: ExecutionRecord): boolean {
  return ending !== null && ending.code !== null && ending.mayHaveRun && !lateResult;
}

/** Its record in the history, or where it is pinned. */
async function recordOf(mockId: string, { history }: Pick<LateResultsDependencies, 'history'>) {
  return (await history.get(mockId)) ?? (await history.pins.get(mockId));
}

async function keepIfAnswered(claim: Claim, record: ExecutionRecord, parts: Parts): Promise<void> {
  const { mockId, app, address } = claim;
  const { mailbox, history, inspections, keptTrees, keepsNothing, log } = parts;
  const { found } = await mailbox.readResult(claim, { unusable: noResult, isLastRead: true });
  if (found.kind !== 'present') return;
  try {
    if (found.judgement.kind !== 'answer') return await removeUnusable(claim, found.stamp, parts);
    const { body, rules: told } = found.judgement;
    const isStillReleased = told !== null || (await inspections.isReleased(app, claim.rules?.released ?? null));
    const rules = rulesOnceAnswered(claim.rules, { told, isStillReleased });
    await history.addLateResult(mockId, body, rules);
    // Only the tree of the rules that were known when it was pinned is kept with it.
    const isSame = rules?.digest === claim.rules?.digest;
    await history.pins.addLateResult(mockId, body, isSame || !claim.rules ? rules : { ...claim.rules, about: true });
    if (told) keptTrees.use(told, treeAsked(claim, record));
  } finally {
    found.lease.release();
  }
  await remove(claim, parts).then(parts.removal.ends, (error) =>
    parts.removal.begins(error, 'they are left for the sweep'),
  );
  const kept = keepsNothing(app)
    ? 'nothing is kept of this app (HISTORY_OFF)'
    : 'the answer is kept with the execution';
  log.info({ mockId, app, address }, `answered late; ${kept}`);
}

/** Removes what is no answer once it has not changed for one sweep: its client may be about to put the answer there. */
async function removeUnusable(claim: Claim, stamp: string, { mailbox, seen }: Parts): Promise<void> {
  const isSame = seen.get(claim.mockId) === stamp;
  seen.set(claim.mockId, stamp);
  if (!isSame) return;
  await mailbox.removeResultSeen(claim, stamp);
  await mailbox.removeIfLeft(claim);
}

async function remove(claim: Claim, { mailbox }: LateResultsDependencies): Promise<void> {
  await mailbox.remove(claim);
  await mailbox.removeIfLeft(claim);
}
