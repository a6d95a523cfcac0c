import type { Ending } from '../../shared/contract/endings/ending.ts';
import { errorOf } from '../../shared/contract/endings/no-answer.ts';
import type { StateStep } from '../../shared/contract/endings/states.ts';
import { beginningOf, type ExecutionRecord, type Progress, settledOf } from '../../shared/contract/execution-record.ts';
import type { JobData, JobResult } from '../../shared/contract/job.ts';
import { type RulesOfRun, rulesOnceAnswered } from '../../shared/contract/rules-of-run.ts';
import { maskedWarning, type Warning } from '../../shared/contract/warning.ts';
import { time } from '../../shared/ports/time.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { Finished, Records, TakenJob } from '../../shared/queue/queue.ts';
import { isFault } from '../../shared/reasons/codes.ts';
import { createThrottledAlert, type Logger } from '../../shared/runtime/telemetry/logger.ts';
import type { Tracing } from '../../shared/runtime/telemetry/tracing.ts';
import { type History, MAX_INPUT_KEPT, resultKey } from '../../shared/store/history/history.ts';
import { INLINE_BYTES, type Store } from '../../shared/store/key-value-store.ts';
import type { Claim } from '../files/claims/claims.ts';
import { answerWarnings, withoutRefuted } from '../files/dialects/dialects.ts';
import type { Mailbox } from '../files/mailbox.ts';
import type { AtStep, Claimed, Ended, Execution } from './execution.ts';
import type { Answer, WaitEnding } from './state.ts';

/**
 * The end of an execution: what the queue is told, with the record that it adds, what a trace is told, and, once the queue accepted it, the files
 * that go. The claim and a kept answer stay until the sweeps remove them (`upkeep`).
 */

// The ending as the queue gets it.

const STORED_SECONDS = 180;

/** An ending that a worker reports to the queue: each but an interruption. */
type Reported = Exclude<WaitEnding, { kind: 'interrupted' }>;

/** `isReleased`: whether the rule version is still released that was released when the request was sent. */
type Shown = { store: Store; privacy: Privacy; input: string; isReleased: () => Promise<boolean> };

/** The ending of a wait as it goes to the queue. A small answer travels with its job; a large one waits in the store. */
export async function toEnded(
  ending: Reported,
  { claim, warnings, marked }: Pick<Claimed, 'claim'> & { warnings: Warning[]; marked: boolean },
  { store, privacy, input, isReleased }: Shown,
): Promise<Ended> {
  if (ending.kind === 'unanswered') {
    const hide = hidden(claim, { privacy, texts: [input] });
    const shown = some(warnings, hide);
    const { written, ...rest } = ending.noAnswer;
    // Text that is not a valid result cannot be masked field by field, so it is dropped for private apps.
    const told = written === undefined || privacy.isPrivate(claim.app) ? rest : { ...rest, written };
    const noAnswer = { ...told, ...shown, ...laneOf(claim), ...rulesIn(claim.app, claim.rules, privacy) };
    return { kind: 'ended', ending: { kind: 'unanswered', noAnswer }, claim, marked };
  }
  try {
    const result = await toJobResult(claim, ending.answer, { warnings, store, privacy, input, isReleased });
    return { kind: 'ended', ending: { kind: 'answered', result }, claim, marked };
  } finally {
    ending.answer.lease.release();
  }
}

async function toJobResult(
  claim: Claim,
  { body, success, outcome, error, rules: told, answeredAt }: Answer,
  { warnings, store, privacy, input, isReleased }: Shown & { warnings: Warning[] },
): Promise<JobResult> {
  const all = [...withoutRefuted(warnings, body), ...answerWarnings(claim, { body, success, input })];
  const hide = hidden(claim, { privacy, texts: [input, body] });
  const isStillReleased = told !== null || (await isReleased());
  const head = {
    address: claim.address,
    success,
    outcome,
    answeredAt,
    ...some(all, hide),
    ...laneOf(claim),
    ...rulesIn(claim.app, rulesOnceAnswered(claim.rules, { told, isStillReleased }), privacy),
    ...(error !== null && !privacy.isOff(claim.app) && { error: beginningOf(hide(error)) }),
  };
  if (Buffer.byteLength(body) <= INLINE_BYTES) return { ...head, body };
  const stored = resultKey(claim.mockId);
  await store.setIfAbsent(stored, body, STORED_SECONDS);
  return { ...head, stored };
}

/** Of an app that is in HISTORY_OFF nothing is kept about its rules. */
function rulesIn(app: number, rules: RulesOfRun | undefined, privacy: Privacy): { rules?: RulesOfRun } {
  return privacy.isOff(app) || rules === undefined ? {} : { rules };
}

function laneOf({ lane }: Claim): { lane?: string } {
  return lane === null ? {} : { lane };
}

/** Takes hidden values out of a text that quotes the input or the answer: it is shown where that data is not at hand. */
function hidden(
  { app }: Claim,
  { privacy, texts: [input = '', body = ''] }: { privacy: Privacy; texts: string[] },
): (text: string) => string {
  const mask = privacy.maskFor(app);
  if (mask === null) return (text) => text;
  mask.data(input);
  mask.answer(body);
  return mask.text;
}

/** Puts the states an execution went through here into its ending: the job tells the whole story as long as it is there. */
export function withSteps(ended: Ended, reached: Progress | null): Ended {
  return reached ? { ...ended, ending: told(ended.ending, reached) } : ended;
}

function told(ending: Ending, { steps, address }: Progress): Ending {
  if (ending.kind === 'answered') return { kind: 'answered', result: { ...ending.result, steps } };
  const { noAnswer } = ending;
  return { kind: 'unanswered', noAnswer: { ...noAnswer, address: noAnswer.address ?? address, steps } };
}

function some(warnings: Warning[], hide: (text: string) => string): { warnings?: Warning[] } {
  return warnings.length === 0 ? {} : { warnings: warnings.map((warning) => maskedWarning(warning, hide)) };
}

// The ending as the trace gets it.

/** Tells a trace what an execution went through here: claim, pick-up, rule, result. */
export function traceExecution(tracing: Tracing, { mockId, takenAt }: Execution, { ending }: Ended): void {
  const { steps = [] } = ending.kind === 'answered' ? ending.result : ending.noAnswer;
  const code = ending.kind === 'answered' ? 'answered' : ending.noAnswer.code;
  const answeredAt = ending.kind === 'answered' ? ending.result.answeredAt : undefined;
  const attributes = { 'rule_server.mock_id': mockId };
  const at = (state: StateStep['state']) => steps.find((step) => step.state === state)?.at;
  const part = (name: string, from: number, to: number) => tracing.part(name, Math.min(from, to), to, { attributes });
  const now = time.now();
  const dispatched = at('dispatched');
  part('claim', takenAt, dispatched ?? now);
  if (dispatched !== undefined) {
    const answered = answeredAt ?? now;
    // A client may answer too quickly to be seen picking up.
    const pickedUp = at('picked-up') ?? (answeredAt === undefined ? undefined : answered);
    part('pick-up', dispatched, pickedUp ?? now);
    if (pickedUp !== undefined) part('rule', pickedUp, Math.max(pickedUp, answered));
  }
  const failed = ending.kind === 'unanswered' || !ending.result.success;
  const told = { attributes: { ...attributes, 'rule_server.outcome': code }, failed };
  tracing.part('result', Math.min(answeredAt ?? now, now), now, told);
}

// Once the queue accepted it: the files.

type CleanUpParts = {
  mailbox: Mailbox;
  atStep: AtStep;
  log: Logger;
};

export type CleanUp = ReturnType<typeof createCleanUp>;

/**
 * Removes the files of an execution once the queue accepted its ending. Answered: the answer is moved to the kept answers, then the mark
 * goes; the request went when the answer was read. Not answered: the request, the withdrawn request, the directory we made,
 * the mark, and the directory of a client that left. Where an answer may still come, what lies in its place stays for the sweep
 * (`late-results.ts`). What fails here is left for the sweep.
 */
export function createCleanUp({ mailbox, atStep, log }: CleanUpParts) {
  const alert = createThrottledAlert(log, 'Files cannot be removed');

  return async function cleanUp({ ending, claim, marked }: Ended): Promise<void> {
    if (!claim) return;
    try {
      await atStep('completed', claim.mockId);
      await removeAll(claim, ending, marked);
      await atStep('removed', claim.mockId);
      alert.ends();
    } catch (error) {
      alert.begins(error, 'they are left for the sweep');
    }
  };

  async function removeAll(claim: Claim, ending: Ending, marked: boolean): Promise<void> {
    // An answer was only taken once its request was gone; one that comes right now is a late one.
    if (ending.kind === 'answered') await mailbox.keepAnswer(claim);
    // The client may have the request, and answer it yet.
    else await mailbox.remove(claim, { keepsResult: ending.noAnswer.mayHaveRun });
    if (marked) await mailbox.removeMark(claim);
    if (ending.kind === 'unanswered') await mailbox.removeIfLeft(claim);
  }
}

// And the record.

/** Inputs up to this size may stay with a finished job: taking one out costs another command. */
const INPUT_LEFT = 1024;

/** The records of executions, each added in the step that ends its job or right after it. */
export function createRecords({ history, atStep, log }: { history: History; atStep: AtStep; log: Logger }): Records {
  const alert = createThrottledAlert(log, 'Executions cannot be kept in the history');
  const fails = (error: unknown) => {
    alert.begins(error, 'an API adds them within a minute, from their jobs');
    throw error;
  };
  return {
    settledOf,
    add(settled, publication) {
      const add = () => history.add(settled, publication).then(alert.ends, fails);
      const step = atStep('before-record', settled.record.mockId); // a worker that dies here leaves it to the repair of the APIs
      return step ? step.then(add) : add();
    },
  };
}

type ReportParts = {
  privacy: Privacy;
  /** `reached`: a client of its app was chosen for it. */
  onEnded: (record: ExecutionRecord, reached: boolean) => void;
  log: Logger;
};

export type ReportEnding = ReturnType<typeof createReportEnding>;
export type Accepted = Extract<Finished, { kind: 'finished' }>;
/** A job, and its data as it was read. */
export type Taken = { job: TakenJob; data: JobData };

/** Puts an execution whose ending the queue accepted into the log and the metrics, and takes out of its job what need not stay there. */
export function createReportEnding({ privacy, onEnded, log }: ReportParts) {
  return async function report(
    { job, data }: Taken,
    { ending, claim }: Ended,
    { settled, isRecorded }: Accepted,
  ): Promise<void> {
    logEnding(job.id, data, { ending, claim });
    if (settled) onEnded(settled.record, claim !== null);
    // The job stays for a while after its end; what is read from the history need not fill the queue store twice.
    const input = inputLeft(data, isRecorded);
    if (input !== data.input) await job.replaceData({ ...data, input }).catch(() => {}); // then it goes with its job
  };

  function inputLeft({ app, input, collect }: JobData, isKept: boolean): string {
    if (privacy.isOff(app) && !collect) return '';
    const shown = privacy.maskFor(app)?.data(input) ?? input;
    return shown.length > (isKept && !collect ? INPUT_LEFT : MAX_INPUT_KEPT) ? '' : shown;
  }

  function logEnding(mockId: string, { app }: JobData, { ending, claim }: Pick<Ended, 'ending' | 'claim'>): void {
    if (ending.kind === 'answered') {
      const { address, success } = ending.result;
      log.info({ mockId, app, address, success }, 'answered');
    } else {
      const { code, reason, mayHaveRun } = ending.noAnswer;
      const told = { mockId, app, code, reason, mayHaveRun };
      if (!isFault(code)) {
        log.info(told, 'not answered');
        return;
      }
      const directory = claim ? `mock/${app}/${claim.directoryName}` : undefined;
      // What is wrong with a result may quote it.
      const error = code === 'invalid-result' ? undefined : errorOf(ending.noAnswer);
      log.warn({ ...told, directory, error }, 'not answered');
    }
  }
}
