import { z } from 'zod';
import { DATA_FIELD, decisionSchema, type JobData, type JobResult, warningSchema } from './job.ts';
import { codeSchema, type NoAnswer, outcomeOf } from './outcomes.ts';
import { parseJson } from './parse-json.ts';
import { type State, type StateStep, stateSchema, stepSchema } from './states.ts';

/** How far a worker got with an execution: kept on its job, so that every API sees it while the execution runs. */
export const progressSchema = z.object({
  address: z.string(),
  steps: z.array(stepSchema),
});
export type Progress = z.infer<typeof progressSchema>;

/** One execution as history keeps it. Ids are decimal text; the result, an answer as JSON text, is kept apart. */
export const recordSchema = z.object({
  mockId: z.string(),
  app: z.int(),
  ruleId: z.string().nullable(),
  confId: z.string().nullable(),
  ts: z.string().nullable(),
  target: z.string(),
  keyName: z.string().nullable(),
  address: z.string().nullable(),
  state: stateSchema,
  history: z.array(stepSchema),
  warnings: z.array(warningSchema),
  outcome: z.object({ status: z.int(), code: z.string().nullable(), mayHaveRun: z.boolean() }).nullable(),
  /** What the rule came to, by its trace; null when that does not say. */
  decision: decisionSchema.nullable().default(null),
  /** When the client's answer was written, as its file says; null when there is none. Epoch ms. */
  answeredAt: z.int().nullable().default(null),
  lateResult: z.boolean().default(false),
});
export type ExecutionRecord = z.infer<typeof recordSchema>;

/** How an execution ended, in the terms of its record. */
export type RecordEnding =
  | ({ kind: 'answered' } & Pick<JobResult, 'address' | 'success' | 'decision' | 'warnings' | 'steps' | 'answeredAt'>)
  | { kind: 'unanswered'; noAnswer: NoAnswer };

type Begun = { mockId: string; data: JobData; queuedAt: number; progress: Progress | null };

/** The record of an execution that is still on its way. */
export function openRecord({ mockId, data, queuedAt, progress }: Begun): ExecutionRecord {
  const { app, ruleId, confId, ts, target, keyName } = data;
  const history: StateStep[] = [{ state: 'queued', at: queuedAt }, ...(progress?.steps ?? [])];
  const state = history.at(-1)?.state ?? 'queued';
  const address = progress?.address ?? null;
  return {
    mockId,
    app,
    ruleId,
    confId,
    ts,
    target,
    keyName,
    address,
    state,
    history,
    warnings: [],
    outcome: null,
    decision: null,
    answeredAt: null,
    lateResult: false,
  };
}

/** The same execution, ended. The steps its ending tells of replace those that were told on the way. */
export function endedRecord(open: ExecutionRecord, ending: RecordEnding, at: number): ExecutionRecord {
  const { warnings = [], steps } = ending.kind === 'answered' ? ending : ending.noAnswer;
  const history = steps ? [...open.history.slice(0, 1), ...steps] : open.history;
  const last = history.at(-1)?.at ?? at;
  const answeredAt = ending.kind === 'answered' ? (ending.answeredAt ?? null) : null;
  const end = (state: State, outcome: ExecutionRecord['outcome'], address: string | null): ExecutionRecord => ({
    ...open,
    state,
    outcome,
    warnings,
    address: address ?? open.address,
    decision: ending.kind === 'answered' ? (ending.decision ?? null) : null,
    // A file's time may be another machine's: it is kept between the steps around it.
    answeredAt: answeredAt === null ? null : Math.round(Math.min(Math.max(answeredAt, last), at)),
    history: [...history, { state, at }],
  });
  if (ending.kind === 'answered') {
    return end(ending.success ? 'succeeded' : 'failed', { status: 200, code: null, mayHaveRun: true }, ending.address);
  }
  const { code, mayHaveRun, address } = ending.noAnswer;
  const { status, state } = outcomeOf(code);
  return end(state, { status, code, mayHaveRun }, address);
}

/** Whether it ended before anything of it could be seen by a client. */
export function wasNeverDispatched({ outcome, history }: ExecutionRecord): boolean {
  return outcome !== null && !outcome.mayHaveRun && !history.some(({ state }) => state === 'dispatched');
}

/** The body that tells a caller why there is no answer, in the shape of a result. */
export function noAnswerBody(mockId: string, { code, error, field, mayHaveRun, executeAt }: NoAnswer): string {
  return JSON.stringify({
    mockId,
    success: false,
    [DATA_FIELD]: {},
    process: null,
    error: field === undefined ? error : `The request was not run: ${field} ${error}.`,
    executeAt,
    code,
    mayHaveRun,
  });
}

const noAnswerBodySchema = z.object({ error: z.string(), executeAt: z.int() });

/** Why a settled execution had no answer, back from its record and the body its caller got. */
export function noAnswerOf({ mockId, address, outcome, warnings }: ExecutionRecord, body: string): NoAnswer {
  const told = noAnswerBodySchema.safeParse(parseJson(body));
  const code = codeSchema.safeParse(outcome?.code).data ?? 'outcome-unknown';
  return {
    code,
    error: told.data?.error ?? `Execution ${mockId} ended with ${code}.`,
    executeAt: told.data?.executeAt ?? Date.now(),
    address,
    mayHaveRun: outcome?.mayHaveRun ?? true,
    warnings,
  };
}
