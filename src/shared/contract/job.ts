import { z } from 'zod';
import { DATA_FIELD } from './data-field.ts';
import { stepSchema } from './endings/states.ts';
import type { ExecuteRequest } from './execute-request.ts';
import { rulesOfRunSchema } from './rules-of-run.ts';
import { formatTarget } from './target.ts';
import { decisionNames } from './verdict.ts';
import { warningSchema } from './warning.ts';

/**
 * The version of a job's data. Added fields
 * need no new one; where a name or a meaning changes, the new version reads all earlier ones. Version 2 may be a dry run: a worker that
 * would run it for real must not read it.
 */
export const JOB_VERSION = 2;
/** Of everything that is not a dry run, so that a worker of an earlier version takes it. */
const REAL_RUN_VERSION = 1;

/** The `v` of a form that is known up to this version. A newer one is for others to read. */
export const knownUpTo = (version: number) => z.int().min(1).max(version);

/**
 * What an Idempotency-Key stands for, as workers see it: the one thing that may run under `key`, and a digest of what was asked for. Claims are
 * guarded by it, whatever the queue store forgets.
 */
export const onceSchema = z.object({ key: z.string().regex(/^[0-9a-f-]{36}$/), digest: z.string() });
export type Once = z.infer<typeof onceSchema>;

const decimal = z.string().regex(/^\d{1,19}$/);

/** The data of one execution's job; the job's id is the mockId. Ids and ts are decimal text: int64 stays exact. */
export const jobDataSchema = z.object({
  v: knownUpTo(JOB_VERSION),
  /** The address that its ending is published to; a job of an earlier version has none. */
  replyTo: z.string().optional(),
  app: z.int().positive(),
  ruleId: decimal.nullable(),
  confId: decimal.nullable(),
  ts: decimal.nullable(),
  target: z.string(),
  input: z.string(),
  claimBy: z.int(),
  /** The name of the API key that asked for it. */
  keyName: z.string().nullable().default(null),
  /** The batch it is an item of. */
  batchId: z.string().optional(),
  /** It was asked for under an Idempotency-Key. */
  once: onceSchema.optional(),
  /** Its caller did not wait, and its app is in HISTORY_OFF: the job keeps the answer until it is collected. */
  collect: z.boolean().optional(),
  /** The detail of the client's own log; absent: the usual. */
  debug: z.int().optional(),
  /** The scene that named the rule. */
  scene: z.string().optional(),
  /** It is to have no effects; `stub`: the replacements of nodes, as JSON text. */
  dryRun: z.object({ stub: z.string() }).optional(),
  /** The comparison it is a part of, and the execution it repeats, as its caller said. */
  comparisonId: z.string().optional(),
  derivedFrom: z.string().optional(),
  /** The queue store had lost it, and with it whether a worker began it. */
  addedAgain: z.boolean().optional(),
  /** The run of the queue store that took it (`StoreRun`): a later run may have forgotten that a worker began it. */
  storeRun: z.string().optional(),
});
export type JobData = z.infer<typeof jobDataSchema>;

/** The data without the input, as lists and followers read it. */
export const jobHeadSchema = jobDataSchema.omit({ input: true });

/** The fields that the data of every version has: enough to end a job that cannot be read, and to know by when. */
export const jobEnvelopeSchema = jobDataSchema.pick({ claimBy: true }).extend({ v: z.int().min(1) });

/** The version of a job: one that an earlier worker must not run for real has a version that it does not know. */
export function jobVersion({ dryRun }: { dryRun?: unknown }): number {
  return dryRun ? JOB_VERSION : REAL_RUN_VERSION;
}

/** Job data of one accepted request. `claimBy`: epoch ms after which no worker may begin it. */
export function toJobData(
  request: ExecuteRequest,
  {
    claimBy,
    keyName,
    once,
    replyTo,
    collect,
    storeRun,
  }: Pick<JobData, 'claimBy' | 'keyName'> & {
    once?: Once | undefined;
    replyTo?: string;
    collect?: boolean;
    storeRun?: string | undefined;
  },
): JobData {
  return {
    v: jobVersion(request),
    ...(replyTo !== undefined && { replyTo }), // near the front, where it is found without reading the input
    app: request.app,
    ruleId: request.ruleId?.toString() ?? null,
    confId: request.confId?.toString() ?? null,
    ts: request.ts?.toString() ?? null,
    target: formatTarget(request.target),
    ...(request.debug !== null && { debug: request.debug }),
    ...(request.scene && { scene: request.scene }),
    ...(request.dryRun && { dryRun: { stub: request.stub } }),
    ...(request.comparisonId !== null && { comparisonId: request.comparisonId }),
    ...(request.derivedFrom !== null && { derivedFrom: request.derivedFrom }),
    input: request[DATA_FIELD],
    claimBy,
    keyName,
    ...(once && { once }),
    ...(collect && { collect }),
    ...(storeRun !== undefined && { storeRun }),
  };
}

/** The outcome of a rule: its root's state, with inversion done. */
export const outcomeSchema = z.enum(decisionNames);
export type Outcome = z.infer<typeof outcomeSchema>;

/** What a client answered: the answer itself if it is small, else the key it is stored under. */
export const jobResultSchema = z.object({
  address: z.string(),
  success: z.boolean(),
  /** What its trace tells. */
  outcome: outcomeSchema.nullable().optional(),
  body: z.string().optional(),
  stored: z.string().optional(),
  warnings: z.array(warningSchema).optional(),
  /** How it went on after it was queued. */
  steps: z.array(stepSchema).optional(),
  /** The time of the result file, epoch ms. */
  answeredAt: z.number().optional(),
  rules: rulesOfRunSchema.optional(),
  /** The lane of its client; absent for one of the trunk. */
  lane: z.string().optional(),
  /** The beginning of the client's error, without hidden fields. */
  error: z.string().optional(),
});
export type JobResult = z.infer<typeof jobResultSchema>;
