import type { JobData } from '../../shared/contract/job.ts';
import { sentences } from '../../shared/contract/sentences.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { errnoOf } from '../../shared/runtime/errno.ts';
import type { Tracing } from '../../shared/runtime/tracing.ts';
import { time } from '../../shared/seams/time.ts';
import type { Store } from '../../shared/store/key-value-store.ts';
import { explained } from '../reasons.ts';
import { awaitAnswer } from './await-answer.ts';
import { begin } from './begin.ts';
import type { BeginParts } from './begin-parts.ts';
import type { CleanUp } from './clean-up.ts';
import { PASS_ON_WITHIN_MS } from './deadlines.ts';
import { dispatch } from './dispatch.ts';
import { type Claimed, type Ended, type Execution, endedWithout, type Outcome } from './execution.ts';
import type { ExecutionJob, RecordEnding } from './record.ts';
import { toEnded, withSteps } from './to-ended.ts';
import { traceExecution } from './trace-execution.ts';
import type { WaitParts } from './wait.ts';

type ExecuteParts = BeginParts &
  WaitParts & { store: Store; privacy: Privacy; tracing: Tracing; cleanUp: CleanUp; record: RecordEnding };

export type Execute = ReturnType<typeof createExecute>;

/**
 * One execution, from the job to the client's answer. Whatever dies or sleeps in between, a rule is dispatched at most
 * once: the claim is written first and once, it names one temporary file, and renaming that file is the dispatch.
 */
export function createExecute(parts: ExecuteParts) {
  return {
    /** Begins the execution or goes on with it, and resolves to what became of it in this worker. */
    async run(execution: Execution): Promise<Outcome> {
      try {
        const begun = await begin(execution, parts); // a claim or a refusal: the first that was written counts
        const outcome = begun.kind === 'claimed' ? await dispatchAndWait(begun, execution.data) : begun;
        if (outcome.kind !== 'ended') return outcome;
        const ended = withSteps(outcome, parts.progress.of(execution.mockId));
        traceExecution(parts.tracing, execution, ended);
        return ended;
      } finally {
        parts.progress.detach(execution.mockId);
      }
    },

    /** To be called once the queue accepted the ending of this job: only then do the files go. */
    async finish(job: ExecutionJob, ended: Ended): Promise<void> {
      await Promise.all([parts.cleanUp(ended), parts.record(job, ended)]);
    },
  };

  /** The same for every attempt, whichever one claimed: dispatch what the claim names, wait for its answer, say how it ended. */
  async function dispatchAndWait(begun: Claimed, { input, claimBy }: JobData): Promise<Outcome> {
    const { claim } = begun;
    try {
      const wait = await dispatch(claim, claimBy, parts); // watch, then rename
      const ending = await awaitAnswer(wait);
      await parts.atStep('result-read', claim.mockId);
      if (ending.kind === 'interrupted') return { kind: 'give-back' };
      const ended = await toEnded(ending, begun, wait, { store: parts.store, privacy: parts.privacy, input });
      await parts.atStep('before-completion', claim.mockId);
      return ended;
    } catch (error) {
      // Tried again as long as the API waits: an answer may be there that only could not be passed on.
      if (time.now() < claim.answerBy + PASS_ON_WITHIN_MS) throw error;
      return endedWithout(sentences.cannotGoOn(claim, explained(errnoOf(error))), claim);
    }
  }
}
