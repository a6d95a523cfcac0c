import type { Job } from 'bullmq';
import { type ExecutionRecord, toSettled } from '../../shared/contract/execution-record.ts';
import { type JobData, type JobResult, jobDataSchema } from '../../shared/contract/job.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { type History, MAX_INPUT_KEPT } from '../../shared/store/history.ts';
import type { Claim } from '../files/claim.ts';
import { registrationPath } from '../files/file-names.ts';
import type { KeptAnswers } from '../files/kept-answers.ts';
import { removeFiles, removeIfLeft } from '../files/request-file.ts';
import { type Processed, placeOf, type Step } from './execute.ts';
import type { LateResults } from './late-answers.ts';

/** Inputs up to this size may stay with a finished job: taking one out costs another command. */
const INPUT_LEFT = 1024;

export type ExecutionJob = Job<JobData, JobResult>;
export type Ended = Extract<Processed, { kind: 'answered' | 'unanswered' }>;

type Dependencies = {
  history: History;
  lateResults: LateResults;
  keptAnswers: KeptAnswers;
  onEnded: (record: ExecutionRecord) => void;
  sharedDir: string;
  atStep: (step: Step, mockId: string) => Promise<void> | void;
  log: Logger;
};

export type AfterEnding = ReturnType<typeof createAfterEnding>;

/**
 * What is left to do once the ending of an execution was accepted: its files go, and it comes into the history. Only the
 * worker whose ending counted does it; what others leave is removed by it, or by the sweep.
 */
export function createAfterEnding({
  history,
  lateResults,
  keptAnswers,
  onEnded,
  sharedDir,
  atStep,
  log,
}: Dependencies) {
  const forgotten = createThrottledAlert(log, 'Executions cannot be kept in the history');
  const removal = createThrottledAlert(log, 'Files cannot be removed');
  let afterwards = Promise.resolve();

  function begin(job: ExecutionJob, ending: Ended): void {
    logEnding(job, ending);
    const { claim } = ending;
    const removed = claim ? remove(claim, ending) : undefined;
    const kept = keep(job, ending).then(() => {
      if (claim && mayAnswerLate(ending)) lateResults.expect(claim);
    });
    afterwards = Promise.all([afterwards, kept, removed]).then(() => {});
  }

  async function remove(claim: Claim, ending: Ended): Promise<void> {
    const place = placeOf(sharedDir, claim);
    try {
      await atStep('completed', claim.mockId);
      // An answer was only taken once its request was gone; one that comes right now is a late one.
      if (ending.kind === 'answered') await keptAnswers.keep(place);
      else await removeFiles(place, claim, { keepAnswer: mayAnswerLate(ending) });
      if (ending.kind === 'unanswered' && claim.registered)
        await removeIfLeft(place, registrationPath(sharedDir, claim));
      await atStep('removed', claim.mockId);
      removal.ends();
    } catch (error) {
      removal.begins(error, 'they are left for the sweep');
    }
  }

  /** Into the history. For a while the job itself tells the same, so nobody has to wait for it. */
  async function keep(job: ExecutionJob, ending: Ended): Promise<void> {
    const mockId = job.id ?? '';
    const data = jobDataSchema.parse(job.data);
    const settled = toSettled({ mockId, data, queuedAt: job.timestamp }, ending, job.finishedOn ?? Date.now());
    onEnded(settled.record);
    const largest = await history.add(settled).then(
      () => {
        forgotten.ends();
        return INPUT_LEFT;
      },
      (error) => {
        forgotten.begins(error, 'they are missing in the history');
        return MAX_INPUT_KEPT;
      },
    );
    // The job stays for a while after its end; what is read from the history need not fill the queue store twice.
    if (data.input.length > largest) await job.updateData({ ...data, input: '' }).catch(() => {}); // then it goes with its job
  }

  function logEnding({ id: mockId, data: { app } }: ExecutionJob, ending: Ended): void {
    if (ending.kind === 'answered') {
      const { address, success } = ending.result;
      log.info({ mockId, app, address, success }, 'answered');
    } else {
      const { code, mayHaveRun } = ending.noAnswer;
      log.info({ mockId, app, code, mayHaveRun }, 'not answered');
    }
  }

  return {
    begin,
    /** Resolves when nothing of it is under way any more. */
    done: () => afterwards,
  };
}

/** Whether the client has the request and may still answer. */
function mayAnswerLate(ending: Ended): boolean {
  return ending.kind === 'unanswered' && ending.noAnswer.code === 'no-answer';
}
