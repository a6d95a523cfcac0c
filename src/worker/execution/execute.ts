import { join } from 'node:path';
import { JOB_VERSION, type JobData, type JobResult, type Warning } from '../../shared/contract/job.ts';
import type { NoAnswer } from '../../shared/contract/outcomes.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { Settings } from '../../shared/runtime/settings.ts';
import { resultKey } from '../../shared/store/history.ts';
import { INLINE_BYTES, type Store } from '../../shared/store/key-value-store.ts';
import { type Claim, type Claims, type Decision, NewerClaim, UnknownClaim } from '../files/claim.ts';
import { mockDirectory } from '../files/file-names.ts';
import { dispatch, type Place } from '../files/request-file.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { ClientSlots } from '../placement/client-slots.ts';
import type { Inspections } from '../placement/inspections.ts';
import type { ResolveTarget } from '../placement/resolve-target.ts';
import { refusals } from '../refusals.ts';
import { type Answer, type WaitDependencies, type WaitEnding, waitForAnswer } from './await-answer.ts';
import { type Begun, createBeginExecution } from './begin.ts';
import type { Interrupts } from './interrupts.ts';
import { answerWarnings } from './warnings.ts';

/** What a worker is asked to do: the job's id and data. */
export type Execution = {
  mockId: string;
  data: JobData;
  /** Whether the queue says that nobody began it before. It may have forgotten: only a claim tells for sure. */
  firstAttempt: boolean;
  /** Whether there is time left to put it back and try again. */
  mayWait: boolean;
};

/**
 * How processing ended. `hand-back`: not at all; the job goes back to the queue, for another worker or a later try. `later`:
 * nor that; it should be away for a while. `newer`: a worker of a newer version began it and only such a one can go on.
 */
export type Processed =
  | { kind: 'answered'; result: JobResult; claim: Claim }
  | { kind: 'unanswered'; noAnswer: NoAnswer; claim: Claim | null }
  | { kind: 'hand-back' }
  | { kind: 'later' }
  | { kind: 'newer' };

/** Points of the pipeline, in order, where tests let a process die or fall asleep. */
export const steps = [
  'before-temporary',
  'before-claim',
  'before-dispatch',
  'dispatched',
  'picked-up',
  'result-read',
  'before-completion',
  'completed',
  'removed',
] as const;
export type Step = (typeof steps)[number];

type Limits = Pick<WaitDependencies, 'maxResultBytes' | 'resultTimeoutMs' | 'clientTimeoutMs'>;
export type Dependencies = Omit<WaitDependencies, keyof Limits | 'toJobResult'> & {
  claims: Claims;
  sharedDirectory: SharedDirectory;
  resolveTarget: ResolveTarget;
  inspections: Inspections;
  slots: ClientSlots;
  store: Store;
  interrupts: Interrupts;
  settings: Settings;
  atStep: (step: Step, mockId: string) => Promise<void> | void;
};

const STORED_SECONDS = 600;
/** A little less than the slack of `apiWaitMs`. */
const PASS_ON_WITHIN_MS = 8000;

export type ProcessExecution = ReturnType<typeof createProcessExecution>;

/**
 * One execution, from the job to the client's answer. Whatever dies or sleeps in between, a rule is dispatched at most
 * once: the claim is written first and once, it names one temporary file, and renaming that file is the dispatch.
 */
export function createProcessExecution(dependencies: Dependencies) {
  const { claims, sharedDirectory, inspections, slots, store, settings, atStep } = dependencies;
  const beginExecution = createBeginExecution(dependencies);

  return async function processExecution(execution: Execution): Promise<Processed> {
    const key = { mockId: execution.mockId, claimBy: execution.data.claimBy };
    try {
      const earlier = execution.firstAttempt ? null : await findEarlier(key);
      const begun: Begun = earlier ?? (await beginExecution(execution));
      if (begun.kind === 'hand-back' || begun.kind === 'later') return begun;
      const decision =
        begun.kind === 'claimed' ? begun : await claims.decide(key, begun).catch(orAnyway(begun, execution));
      if (decision.kind === 'refused') return unanswered(decision.noAnswer, null);
      const known = begun.kind === 'claimed' ? begun.warnings : undefined;
      return await carryOn(decision.claim, known ?? (await inspections.warningsAgain(decision.claim, execution.data)));
    } catch (error) {
      if (error instanceof NewerClaim && !isOverForAll(key, settings)) return { kind: 'newer' };
      // Nobody waits longer than this, and an execution that fails for ever would never leave the queue.
      const isOver = sharedDirectory.clock.isPast(key.claimBy + settings.RESULT_TIMEOUT_MS);
      if (error instanceof UnknownClaim || isOver) return unanswered(refusals.unreadableClaim(execution.mockId), null);
      throw error;
    }
  };

  /** Where the whole directory is gone, the claim of an earlier attempt is not missing, only out of sight. */
  async function findEarlier(key: { mockId: string; claimBy: number }): Promise<Decision | null> {
    if (!(await sharedDirectory.isThere())) throw new Error('SHARED_DIR is not there');
    const earlier = await claims.find(key);
    // Room for it is made before `claimBy` and kept for long: where there is none, it may have been removed with its claims.
    if (!earlier && sharedDirectory.clock.isPast(key.claimBy) && !(await claims.hasRoom(key)))
      throw new UnknownClaim(`the claims of the time of ${key.mockId} are gone`);
    return earlier;
  }

  /** From here on it does not matter who claimed: dispatch what the claim names, wait for its answer, say how it ended. */
  async function carryOn(claim: Claim, warnings: Warning[]): Promise<Processed> {
    const place = placeOf(sharedDirectory.sharedDir, claim);
    slots.occupy(place.directory);
    try {
      const ending = await dispatchAndWait(claim, place);
      await atStep('result-read', claim.mockId);
      const processed = conclude(claim, ending, warnings);
      await atStep('before-completion', claim.mockId);
      return processed;
    } catch (error) {
      // Tried again as long as the API waits: an answer may be there that only could not be passed on.
      if (Date.now() < claim.answerBy + PASS_ON_WITHIN_MS) throw error;
      return unanswered(refusals.cannotGoOn(claim, error), claim);
    } finally {
      slots.release(place.directory);
    }
  }

  function dispatchAndWait(claim: Claim, place: Place): Promise<WaitEnding> {
    const dispatchOnceWatching = async () => {
      await atStep('before-dispatch', claim.mockId);
      const dispatched = Date.now() < claim.answerBy ? await dispatch(place, claim) : 'was-dispatched';
      await atStep('dispatched', claim.mockId);
      return dispatched;
    };
    const limits: Limits = {
      maxResultBytes: settings.MAX_RESULT_BYTES,
      resultTimeoutMs: settings.RESULT_TIMEOUT_MS,
      clientTimeoutMs: settings.CLIENT_TIMEOUT_MS,
    };
    return waitForAnswer(claim, place, dispatchOnceWatching, { ...dependencies, ...limits, toJobResult });
  }

  function conclude(claim: Claim, ending: WaitEnding, warnings: Warning[]): Processed {
    switch (ending.kind) {
      case 'interrupted':
        return { kind: 'hand-back' };
      case 'unanswered':
        return unanswered({ ...ending.noAnswer, ...some(warnings) }, claim);
      case 'answered': {
        const { result } = ending;
        return { kind: 'answered', claim, result: { ...result, ...some([...warnings, ...(result.warnings ?? [])]) } };
      }
    }
  }

  /** A small answer travels with its job; a large one waits in the store, so that no event carries it. */
  async function toJobResult(claim: Claim, { body, ...answer }: Answer): Promise<JobResult> {
    const { mockId, address } = claim;
    const { success } = answer;
    const head = { v: JOB_VERSION, address, ...answer, ...some(answerWarnings(claim, { body, success })) };
    if (Buffer.byteLength(body) <= INLINE_BYTES) return { ...head, body };
    const stored = resultKey(mockId);
    await store.setIfAbsent(stored, body, STORED_SECONDS);
    return { ...head, stored };
  }
}

/** Whether no worker can still report an answer in time, whatever it knows. */
export function isOverForAll({ claimBy }: { claimBy: number }, { RESULT_TIMEOUT_MS }: Settings): boolean {
  return Date.now() >= claimBy + RESULT_TIMEOUT_MS + PASS_ON_WITHIN_MS;
}

/** Where the files of a claimed execution lie. */
export function placeOf(sharedDir: string, { app, directoryName, mockId }: Claim): Place {
  return { directory: join(mockDirectory(sharedDir, app), directoryName), mockId };
}

/** Errors that keep everybody from writing: neither this refusal nor a claim. */
const NOBODY_CAN_WRITE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'ENOENT']);

/**
 * If the disk is full, neither a refusal nor a claim can be written, so "did not run" is true. Except on a later attempt with
 * ENOENT: an earlier claim may be hidden.
 */
function orAnyway(refusal: Decision, { firstAttempt }: Execution) {
  return (error: unknown): Decision => {
    const code = errnoOf(error);
    if (!NOBODY_CAN_WRITE.has(code) || (code === 'ENOENT' && !firstAttempt)) throw error;
    return refusal;
  };
}

function some(warnings: Warning[]): { warnings?: Warning[] } {
  return warnings.length > 0 ? { warnings } : {};
}

function unanswered(noAnswer: NoAnswer, claim: Claim | null): Processed {
  return { kind: 'unanswered', noAnswer, claim };
}
