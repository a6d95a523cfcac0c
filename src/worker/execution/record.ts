import type { Job } from 'bullmq';
import type { Ending } from '../../shared/contract/ending.ts';
import { type ExecutionRecord, toSettled } from '../../shared/contract/execution-record.ts';
import { type JobData, type JobResult, jobDataSchema } from '../../shared/contract/job.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/logger.ts';
import { time } from '../../shared/seams/time.ts';
import { type History, MAX_INPUT_KEPT } from '../../shared/store/history.ts';
import type { Ended } from './execution.ts';
import type { AtStep } from './steps.ts';

/** Inputs up to this size may stay with a finished job: taking one out costs another command. */
const INPUT_LEFT = 1024;

export type ExecutionJob = Job<JobData, JobResult>;

type Dependencies = {
  history: History;
  privacy: Privacy;
  onEnded: (record: ExecutionRecord) => void;
  atStep: AtStep;
  log: Logger;
};

export type RecordEnding = ReturnType<typeof createRecord>;

/** Puts an execution whose ending the queue accepted into the log, the metrics and the history. */
export function createRecord({ history, privacy, onEnded, atStep, log }: Dependencies) {
  const alert = createThrottledAlert(log, 'Executions cannot be kept in the history');

  /** For a while the job itself tells the same, so no caller has to wait for this. */
  return async function record(job: ExecutionJob, { ending }: Ended): Promise<void> {
    logEnding(job, ending);
    const mockId = job.id ?? '';
    const data = jobDataSchema.parse(job.data);
    const settled = toSettled({ mockId, data, queuedAt: job.timestamp }, ending, job.finishedOn ?? time.now());
    onEnded(settled.record);
    await atStep('before-record', mockId); // a worker that dies here leaves it to the repair of the APIs
    const isKept = await history.add(settled).then(
      () => true,
      (error) => {
        alert.begins(error, 'they are missing in the history');
        return false;
      },
    );
    if (isKept) alert.ends();
    // The job stays for a while after its end; what is read from the history need not fill the queue store twice.
    const input = inputLeft(data, isKept);
    if (input !== data.input) await job.updateData({ ...data, input }).catch(() => {}); // then it goes with its job
  };

  function inputLeft({ app, input, collect }: JobData, isKept: boolean): string {
    if (privacy.isOff(app) && !collect) return '';
    const shown = privacy.maskFor(app)?.data(input) ?? input;
    return shown.length > (isKept && !collect ? INPUT_LEFT : MAX_INPUT_KEPT) ? '' : shown;
  }

  function logEnding({ id: mockId, data: { app } }: ExecutionJob, ending: Ending): void {
    if (ending.kind === 'answered') {
      const { address, success } = ending.result;
      log.info({ mockId, app, address, success }, 'answered');
    } else {
      const { code, mayHaveRun } = ending.noAnswer;
      log.info({ mockId, app, code, mayHaveRun }, 'not answered');
    }
  }
}
