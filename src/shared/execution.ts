import { z } from 'zod';
import { DATA_FIELD, type JobData, type Warning, warningSchema } from './contract.ts';
import { type NoAnswer, outcomeOf } from './outcomes.ts';

/** Where an execution is. `picked-up` may be skipped; nothing follows an end state. */
export const stateSchema = z.enum([
  'queued',
  'dispatched',
  'picked-up',
  'succeeded',
  'failed',
  'timed-out',
  'cancelled',
  'rejected',
]);
export type State = z.infer<typeof stateSchema>;

const END_STATES: ReadonlySet<State> = new Set(['succeeded', 'failed', 'timed-out', 'cancelled', 'rejected']);
export const isEndState = (state: State) => END_STATES.has(state);

/** A state and when it was reached, epoch ms. */
export const stepSchema = z.object({ state: stateSchema, at: z.int() });
export type StateStep = z.infer<typeof stepSchema>;

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
  lateResult: z.boolean().default(false),
});
export type ExecutionRecord = z.infer<typeof recordSchema>;

/** How an execution ended, in the terms of its record. */
export type RecordEnding =
  | { kind: 'answered'; address: string; success: boolean; warnings?: Warning[] | undefined }
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
    lateResult: false,
  };
}

/** The same execution, ended. */
export function endedRecord(open: ExecutionRecord, ending: RecordEnding, at: number): ExecutionRecord {
  const { warnings = [] } = ending.kind === 'answered' ? ending : ending.noAnswer;
  const end = (state: State, outcome: ExecutionRecord['outcome'], address: string | null): ExecutionRecord => ({
    ...open,
    state,
    outcome,
    warnings,
    address: address ?? open.address,
    history: [...open.history, { state, at }],
  });
  if (ending.kind === 'answered') {
    return end(ending.success ? 'succeeded' : 'failed', { status: 200, code: null, mayHaveRun: true }, ending.address);
  }
  const { code, mayHaveRun, address } = ending.noAnswer;
  const { status, state } = outcomeOf(code);
  return end(state, { status, code, mayHaveRun }, address);
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
