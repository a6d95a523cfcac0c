import { z } from 'zod';
import {
  askedMembers,
  type batchStateSchema,
  countsSchema,
  differenceSchema,
  namedNodeSchema,
  notCheckedSchema,
  ranToSchema,
  verdictSchema,
} from '../contract/batches.ts';
import { codeSchema, paramsSchema } from '../contract/endings/codes.ts';
import { knownUpTo, onceSchema } from '../contract/job.ts';
import { rulesOfRunSchema } from '../contract/rules-of-run.ts';
import { isBad, type Verdict, verdicts } from '../contract/verdict.ts';
import type { SkipReason } from '../reasons/remarks.ts';
import { withMessage } from '../reasons/words.ts';
import type { SetAside } from './document/refusal.ts';

/** The version of what is stored about batches. */
export const BATCH_VERSION = 3;
/** Cases × targets of one batch. */
export const MAX_ITEMS = 10_000;
export const DEFAULT_CONCURRENCY = 4;
export const MAX_CONCURRENCY = 500;

/** The reason why a batch was stopped, as stores keep it. */
export const skipReasonSchema = z.object({ reason: z.string(), params: paramsSchema });

const setAsideSchema: z.ZodType<SetAside> = z.object({
  cases: z.int(),
  errors: z.array(z.object({ field: z.string(), code: z.string(), params: paramsSchema })),
});

/** As the interface shows it. */
export const setAsideBody = ({ cases, errors }: SetAside) => ({ cases, errors: errors.map(withMessage) });

export type BatchState = z.infer<typeof batchStateSchema>;

/** A batch as it was asked for. Ids are decimal text; `targets` are as they were resolved when it was accepted. */
export const batchSchema = z.object({
  v: knownUpTo(BATCH_VERSION),
  ...askedMembers,
  targets: z.array(z.string()),
  /** Told again to who asks for it again under its key. */
  setAside: setAsideSchema.optional(),
  /** It was created under an Idempotency-Key. */
  once: onceSchema.optional(),
});
export type Batch = z.infer<typeof batchSchema>;

/** How far a batch is: `counts` by target, in the order of the targets. `why`: the reason why it was stopped, if nobody asked for that. */
export type BatchProgress = { state: BatchState; endedAt: number | null; counts: Counts[]; why?: SkipReason | null };
export type Counts = Record<Verdict, number>;

/** An item in short: enough to list, filter and report it. */
export const itemHeadSchema = z.object({
  verdict: verdictSchema,
  outcome: ranToSchema.nullable().default(null),
  address: z.string().nullable().default(null),
  code: codeSchema.nullable().default(null),
  /** Why there is no answer. */
  reason: z.string().nullable().default(null),
  params: paramsSchema.default({}),
  mayHaveRun: z.boolean().default(false),
  /** The client's error, why there is no answer, or why it was skipped. */
  error: z.string().nullable().default(null),
  tookMs: z.number().nullable().default(null),
  /** How many differences are kept. */
  differences: z.int().default(0),
  /** The rules it ran on. */
  rules: rulesOfRunSchema.nullable().default(null),
  /** Where its way and that of the run it is compared with part. */
  parting: namedNodeSchema.nullable().default(null),
  /** Epoch ms after which no worker may begin it, once it may have been sent. */
  claimBy: z.int().nullable().default(null),
});
export type ItemHead = z.infer<typeof itemHeadSchema>;

/** The rest that is kept of an item. `data`: the members that changed, as JSON text. */
export const itemDetailSchema = z.object({
  differences: z.array(differenceSchema),
  notChecked: z.array(notCheckedSchema).default([]),
  data: z.string().nullable(),
  cut: z.boolean(),
  nodes: z.record(z.string(), z.array(z.string())).nullable(),
});
export type ItemDetail = z.infer<typeof itemDetailSchema>;

/** The number of an item, from 1: the targets of the first case, those of the second, and so on. */
export function itemNumber({ targets }: Pick<Batch, 'targets'>, caseIndex: number, targetIndex: number): number {
  return caseIndex * targets.length + targetIndex + 1;
}

/** The case and the target of an item. */
export function placeOfItem(
  { targets }: Pick<Batch, 'targets'>,
  n: number,
): { caseIndex: number; targetIndex: number } {
  return { caseIndex: Math.floor((n - 1) / targets.length), targetIndex: (n - 1) % targets.length };
}

const none = countsSchema.parse(Object.fromEntries(verdicts.map((verdict) => [verdict, 0])));
export const noCounts = (): Counts => ({ ...none });

/** The counts of all targets together. */
export function totalOf(counts: readonly Counts[]): Counts {
  const total = noCounts();
  for (const each of counts) for (const verdict of verdicts) total[verdict] += each[verdict];
  return total;
}

/** How many items count as failures. */
export function failuresIn(counts: readonly Counts[]): number {
  const total = totalOf(counts);
  return verdicts.reduce((sum, verdict) => sum + (isBad(verdict) ? total[verdict] : 0), 0);
}
