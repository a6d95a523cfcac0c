import { CLAIM_KEPT_MS } from '../../shared/contract/claim-age.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { rulesOnceAnswered } from '../../shared/contract/rules-of-run.ts';
import { every } from '../../shared/runtime/periodic.ts';
import { createThrottledAlert, type Logger, type ThrottledAlert } from '../../shared/runtime/telemetry/logger.ts';
import { tryEach } from '../../shared/runtime/try-each.ts';
import { time } from '../../shared/seams/time.ts';
import type { History } from '../../shared/store/history/history.ts';
import type { Claim } from '../files/claims/claim.ts';
import type { Claims } from '../files/claims/claims.ts';
import { dialects } from '../files/dialects/dialects.ts';
import { filesOf, removeFiles, removeIfLeft, removeResultSeen, resultPath } from '../files/execution-files.ts';
import { registrationPath } from '../files/file-names.ts';
import type { MemoryBudget } from '../files/memory-budget.ts';
import { type FoundResult, readResult } from '../files/results/result-file.ts';
import type { Inspections } from '../placement/inspections.ts';
import type { KeptTrees } from '../rules/kept-trees.ts';
import { treeAsked } from './begin.ts';

const LOOK_EVERY_MS = 2000;
const MAX_EXPECTED = 1000;

type LateResultsDependencies = {
  claims: Pick<Claims, 'findAnywhere'>;
  /** A pinned execution may be gone from all but its pins. */
  history: Pick<History, 'get' | 'addLateResult' | 'pins'>;
  inspections: Pick<Inspections, 'isReleased'>;
  keptTrees: Pick<KeptTrees, 'use'>;
  sharedDir: string;
  memory: MemoryBudget;
  maxResultBytes: number;
  /** Whether answers of an app are not kept. */
  keepsNothing: (app: number) => boolean;
  log: Logger;
};

/** `unusable`: the stamp of what lay in the place of the answer at the last look, and was none. */
type Expected = { claim: Claim; until: number; unusable?: string };

export type LateResults = ReturnType<typeof createLateResults>;

/**
 * Looks out for answers that come after their execution ended without one: timed out, cancelled, or with a client that seemed
 * to have left. They are kept with it, and their files removed. What is no answer is removed once it has not changed for one look.
 */
export function createLateResults(dependencies: LateResultsDependencies) {
  const { claims, log } = dependencies;
  const expected = new Map<string, Expected>();
  const keeping = createThrottledAlert(log, 'Late results cannot be kept');
  const removal = createThrottledAlert(log, 'Files of late results cannot be removed');
  const cannotKeep = (error: unknown) => keeping.begins(error, 'the worker tries again');
  const loop = every(LOOK_EVERY_MS, lookForAll, cannotKeep);

  async function lookForAll(): Promise<void> {
    const look = async ([mockId, one]: [string, Expected]) => {
      if (time.now() > one.until || (await keepIfAnswered(one, dependencies, removal))) expected.delete(mockId);
    };
    await tryEach(expected, look, cannotKeep);
    keeping.ends();
    removal.ends();
  }

  /** Its execution ended, and its client may have it. Beyond a thousand of them the oldest is given up. */
  function expect(claim: Claim): void {
    expected.set(claim.mockId, { claim, until: time.now() + CLAIM_KEPT_MS });
    const oldest = expected.keys().next().value;
    if (expected.size > MAX_EXPECTED && oldest !== undefined) expected.delete(oldest);
  }

  return {
    expect,
    /**
     * A result lies there that no worker may be waiting for: the one that looked out for it may have ended since. Resolves to
     * true if this worker now looks out for it.
     */
    async found(mockId: string): Promise<boolean> {
      if (expected.has(mockId)) return true;
      const record = await recordOf(mockId, dependencies);
      if (!record || !mayComeLate(record)) return false;
      const decision = await claims.findAnywhere(mockId);
      if (decision?.kind !== 'claimed') return false;
      expect(decision.claim);
      return true;
    },
    close: () => loop.stop(),
  };
}

/** Whether an execution ended without an answer, though its client may have run it. */
function mayComeLate({ outcome, lateResult }: ExecutionRecord): boolean {
  return outcome !== null && outcome.code !== null && outcome.mayHaveRun && !lateResult;
}

function readLateResult(
  claim: Claim,
  { sharedDir, memory, maxResultBytes }: LateResultsDependencies,
): Promise<FoundResult> {
  const expected = { mockId: claim.mockId, dialect: dialects[claim.dialect], maxBytes: maxResultBytes, memory };
  return readResult(resultPath(filesOf(sharedDir, claim)), expected);
}

/** Its record in the history, or where it is pinned. */
async function recordOf(mockId: string, { history }: Pick<LateResultsDependencies, 'history'>) {
  return (await history.get(mockId)) ?? (await history.pins.get(mockId));
}

async function keepIfAnswered(
  expected: Expected,
  parts: LateResultsDependencies,
  removal: ThrottledAlert,
): Promise<boolean> {
  const { claim } = expected;
  const { mockId, app, address } = claim;
  const { history, inspections, keptTrees, keepsNothing, log } = parts;
  const found = await readLateResult(claim, parts);
  if (found.kind !== 'present') return false;
  try {
    if (found.judgement.kind !== 'answer') {
      await removeUnusable(expected, found.stamp, parts);
      return false;
    }
    const record = await recordOf(mockId, parts);
    if (!record) return false; // it may not be written yet
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
  await remove(claim, parts).catch((error) => removal.begins(error, 'they are left for the sweep'));
  const kept = keepsNothing(app)
    ? 'nothing is kept of this app (HISTORY_OFF)'
    : 'the answer is kept with the execution';
  log.info({ mockId, app, address }, `answered late; ${kept}`);
  return true;
}

/** Removes what is no answer once it has not changed for one look: its client may be about to put the answer there. */
async function removeUnusable(
  expected: Expected,
  stamp: string,
  { sharedDir }: LateResultsDependencies,
): Promise<void> {
  const { claim } = expected;
  const isSame = expected.unusable === stamp;
  expected.unusable = stamp;
  if (!isSame) return;
  const files = filesOf(sharedDir, claim);
  await removeResultSeen(files, stamp);
  if (claim.registered) await removeIfLeft(files, registrationPath(sharedDir, claim));
}

async function remove(claim: Claim, { sharedDir }: LateResultsDependencies): Promise<void> {
  const files = filesOf(sharedDir, claim);
  await removeFiles(files, claim);
  if (claim.registered) await removeIfLeft(files, registrationPath(sharedDir, claim));
}
