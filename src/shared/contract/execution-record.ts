import { z } from 'zod';
import { outcomes, statusOf } from '../reasons/codes.ts';
import { ranNothing } from '../reasons/endings.ts';
import { mapTexts } from '../reasons/template.ts';
import { DATA_FIELD } from './data-field.ts';
import { codeSchema, paramsSchema } from './endings/codes.ts';
import { answered, type Ending, endingSchema, type Unanswered, unanswered } from './endings/ending.ts';
import { errorOf, type NoAnswer, noAnswer } from './endings/no-answer.ts';
import { isEndState, type State, type StateStep, stepSchema } from './endings/states.ts';
import { executionMembers, type Timings } from './execution.ts';
import { type JobData, jobDataSchema } from './job.ts';
import { parseJson } from './json/parse-json.ts';

/** How far a worker got with an execution: kept on its job, so that every API sees it while the execution runs. */
export const progressSchema = z.object({
  address: z.string(),
  steps: z.array(stepSchema),
});
export type Progress = z.infer<typeof progressSchema>;

/** One execution as history keeps it; the result, an answer as JSON text, is kept apart. */
export const recordSchema = z.object({
  ...executionMembers,
  /** The batch it is an item of. */
  batchId: z.string().nullable(),
  /** When the client's answer was written, as its file says; null when there is none. Epoch ms. */
  answeredAt: z.int().nullable(),
  lateResult: z.boolean(),
  /** The beginning of what the client wrote and is no result. */
  written: z.string().nullable(),
  /** Of what was asked for under an Idempotency-Key (`Once`). It is not shown. */
  digest: z.string().optional(),
});
export type ExecutionRecord = z.infer<typeof recordSchema>;

/** An execution that is over: its record, its input, and its answer as JSON text or the store's key that was put under. */
export type Settled = { record: ExecutionRecord; input: string; result: { body: string } | { stored: string } };

/** An execution on the queue, and how far it is known to have got. */
export type Queued = { mockId: string; data: JobData; queuedAt: number; progress?: Progress | null };

const unknownYet = {
  ...{ warnings: [], ending: null, outcome: null, answeredAt: null, lateResult: false, rules: null },
  ...{ lane: null, error: null, written: null },
};

const MAX_ERROR_KEPT = 300;

/** The beginning of an error, as records have it. Hidden values are to be taken out of it before: half of one is not recognised. */
export function beginningOf(error: string): string {
  return error.slice(0, MAX_ERROR_KEPT).replace(/[\uD800-\uDBFF]$/, '');
}

/** The record of an execution that is still on its way. */
export function openRecord({ mockId, data, queuedAt, progress }: Queued): ExecutionRecord {
  const { app, ruleId, confId, ts, target, keyName, batchId = null } = data;
  const history: StateStep[] = [{ state: 'queued', at: queuedAt }, ...(progress?.steps ?? [])];
  const state = history.at(-1)?.state ?? 'queued';
  const address = progress?.address ?? null;
  const { comparisonId = null, derivedFrom = null } = data;
  const caller = { keyName, batchId, dryRun: data.dryRun !== undefined, comparisonId, derivedFrom };
  const keyed = data.once && { digest: data.once.digest };
  return { mockId, app, ruleId, confId, ts, target, ...caller, ...keyed, address, state, history, ...unknownYet };
}

/** The record of an execution that ended at `at`, epoch ms. */
export function toSettled(queued: Queued, ending: Ending, at: number): Settled {
  const record = endedRecord(openRecord(queued), ending, at);
  const { input } = queued.data;
  if (ending.kind === 'unanswered')
    return { record, input, result: { body: noAnswerBody(record.mockId, ending.noAnswer) } };
  const { stored, body = '' } = ending.result;
  return { record, input, result: stored === undefined ? { body } : { stored } };
}

/** The same execution, ended. The steps its ending tells of replace those that were told on the way. */
function endedRecord(open: ExecutionRecord, ending: Ending, at: number): ExecutionRecord {
  const known = ending.kind === 'answered' ? ending.result : ending.noAnswer;
  const steps = known.steps ? [...open.history.slice(0, 1), ...known.steps] : open.history;
  const end = endOf(ending);
  const answer = ending.kind === 'answered' ? ending.result : undefined;
  return {
    ...open,
    ...end,
    warnings: known.warnings ?? [],
    address: known.address ?? open.address,
    outcome: answer?.outcome ?? null,
    rules: known.rules ?? null,
    lane: known.lane ?? null,
    error: answer?.error ?? null,
    written: (ending.kind === 'unanswered' && ending.noAnswer.written) || null,
    answeredAt: answer?.answeredAt === undefined ? null : between(steps.at(-1)?.at ?? at, answer.answeredAt, at),
    history: [...steps, { state: end.state, at }],
  };
}

function endOf(ending: Ending): { state: State; ending: ExecutionRecord['ending'] } {
  if (ending.kind === 'answered') {
    const state = ending.result.success ? 'succeeded' : 'failed';
    return { state, ending: { status: 200, code: null, reason: null, params: {}, mayHaveRun: true } };
  }
  const { code, reason, params, mayHaveRun } = ending.noAnswer;
  const kept = mapTexts(params, beginningOf);
  return {
    state: outcomes[code].state,
    ending: { status: statusOf(ending.noAnswer), code, reason, params: kept, mayHaveRun },
  };
}

/** A file's time may be another machine's: it is kept between the steps around it. */
function between(first: number, at: number, last: number): number {
  return Math.round(Math.min(Math.max(at, first), last));
}

/** How a recorded execution ended; null while it is on its way. `body`: what its caller was answered, if that is kept. */
export function endingOf(record: ExecutionRecord, body: string | null): Ending | null {
  const { ending, address, outcome, state } = record;
  if (ending === null) return null;
  if (ending.code !== null) return unanswered(noAnswerOf(record, body ?? ''));
  const success = state === 'succeeded';
  return answered({ address: address ?? '', success, outcome, body: body ?? undefined });
}

/** Whether it ended before anything of it could be seen by a client. */
export function wasNeverDispatched({ ending, history }: ExecutionRecord): boolean {
  return ending !== null && ranNothing(ending) && !history.some(({ state }) => state === 'dispatched');
}

/** A record without what is hidden in why it failed: the client's error, or the parameters of the reason. */
export function maskedReason(record: ExecutionRecord, mask: { text: (text: string) => string }): ExecutionRecord {
  const error = record.error === null ? null : mask.text(record.error);
  const ending = record.ending && { ...record.ending, params: mapTexts(record.ending.params, mask.text) };
  return { ...record, error, ending };
}

/** A record without why it failed: where nobody knows what of it is hidden, or nothing is to be kept. The code stays. */
export function withoutReason(record: ExecutionRecord): ExecutionRecord {
  return { ...record, error: null, ending: record.ending && { ...record.ending, reason: null, params: {} } };
}

/** The error of an execution for people: the client's, or why there is no answer. */
export function shownError({ ending, error }: Pick<ExecutionRecord, 'ending' | 'error'>): string | null {
  return ending?.reason == null ? error : errorOf({ ...ending, reason: ending.reason });
}

/** The body that tells a caller why there is no answer, in the shape of a result. */
export function noAnswerBody(mockId: string, noAnswer: NoAnswer): string {
  const { code, reason, params, mayHaveRun, executeAt } = noAnswer;
  const empty = { [DATA_FIELD]: {}, process: null };
  const why = { code, reason, params, mayHaveRun };
  return JSON.stringify({ mockId, success: false, ...empty, error: errorOf(noAnswer), executeAt, ...why });
}

const noAnswerBodySchema = z.object({ executeAt: z.int(), reason: z.string(), params: paramsSchema });

/** Why a settled execution had no answer, back from the body its caller got, and from its record, which may have no reason. */
function noAnswerOf({ mockId, address, ending, warnings }: ExecutionRecord, body: string): NoAnswer {
  const kept = noAnswerBodySchema.safeParse(parseJson(body)).data;
  const code = codeSchema.safeParse(ending?.code).data ?? 'outcome-unknown';
  const recorded =
    ending?.reason == null
      ? { reason: 'ending-unknown', params: { mockId } }
      : { reason: ending.reason, params: ending.params };
  const { reason, params } = kept ?? recorded;
  return {
    code,
    reason,
    params,
    executeAt: kept?.executeAt ?? Date.now(),
    address,
    mayHaveRun: ending?.mayHaveRun ?? true,
    warnings,
  };
}

/** Reads the timings of an execution off its history. */
export function timingsOf({ history, answeredAt }: Pick<ExecutionRecord, 'history' | 'answeredAt'>): Timings {
  const at = (state: State) => history.find((step) => step.state === state)?.at;
  const [queued, dispatched, pickedUp] = [at('queued'), at('dispatched'), at('picked-up')];
  const ended = history.find(({ state }) => isEndState(state))?.at;
  const answered = answeredAt ?? undefined;
  return {
    queued: msBetween(queued, dispatched ?? ended),
    pickUp:
      dispatched === undefined ? null : msBetween(dispatched, pickedUp ?? (answered === undefined ? ended : undefined)),
    running: msBetween(pickedUp ?? (answered === undefined ? undefined : dispatched), answered ?? ended),
    noticing: msBetween(answered, ended),
    total: msBetween(queued, ended),
  };
}

/** Machines' clocks differ a little; no part takes less than no time. */
function msBetween(from: number | undefined, to: number | undefined): number | null {
  return from === undefined || to === undefined ? null : Math.max(0, to - from);
}

/**
 * The ending in the value of a job that ended. A job without a value failed by a defect of its worker: only its log tells more, and
 * the rule may have run.
 */
export function readEnding(mockId: string, value: unknown): Ending {
  if (value === undefined || value === null) return unanswered(noAnswer('worker-failed', { mockId }));
  return endingSchema.safeParse(value).data ?? unanswered(noAnswer('newer-form', { mockId }));
}

/**
 * What an ending means for a job that was added again meanwhile. A refusal that its worker could not write holds back no other worker,
 * which may begin the new job.
 */
export function endingOfAddedAgain<Answered extends { kind: 'answered' }>(
  mockId: string,
  ending: Answered | Unanswered,
): Answered | Unanswered {
  const isUnwritten = ending.kind === 'unanswered' && ending.noAnswer.code === 'channel-unavailable';
  return isUnwritten ? unanswered(noAnswer('store-was-away', { mockId })) : ending;
}

/** A job that ended. Times are epoch ms. */
export type EndedJob = { id: string; data: unknown; addedAt: number; endedAt: number; value: unknown };

/** The execution of a job that ended, as histories keep it; undefined when the job's data cannot be read. */
export function settledOf({ id, data, addedAt, endedAt, value }: EndedJob): Settled | undefined {
  const parsed = jobDataSchema.safeParse(data);
  if (!parsed.success) return undefined;
  return toSettled({ mockId: id, data: parsed.data, queuedAt: addedAt }, readEnding(id, value), endedAt);
}
