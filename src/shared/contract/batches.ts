import { z } from 'zod';
import { differences, isHow } from '../reasons/remarks.ts';
import { DATA_FIELD } from './data-field.ts';
import { codeSchema, paramsSchema } from './endings/codes.ts';
import { wrongSchema } from './problem.ts';
import { rulesOfRunSchema } from './rules-of-run.ts';
import { outcomeNames, verdicts } from './verdict.ts';
import { int, int64, jsonObject, pageOf, text, time } from './wire.ts';

const batchStates = ['running', 'cancelling', 'cancelled', 'finished'] as const;
export const batchStateSchema = z.enum(batchStates);
export const verdictSchema = z.enum(verdicts);
export const ranToSchema = z.enum(outcomeNames);
export const countsSchema = z.record(verdictSchema, int);
export const namedNodeSchema = z.object({ id: text, name: text });

/** One way in which a run was not as expected. `expected` and `actual` are JSON text, shortened; null where there is nothing. */
export const differenceSchema = z.object({
  path: text,
  expected: text.nullable(),
  actual: text.nullable(),
  how: z.enum(Object.keys(differences).filter(isHow)),
});
export type Difference = z.output<typeof differenceSchema>;

/** What could not be checked or compared, and the nodes that are why. */
export const notCheckedSchema = z.object({
  part: z.enum(['outcome', 'error', 'actions', 'data', 'way']),
  why: z.enum(['not-called', 'not-told', 'hidden', 'not-kept']),
  nodes: z.array(text),
});

const setAsideSchema = z.object({ cases: int, errors: z.array(wrongSchema) });
export type SetAsideBody = z.output<typeof setAsideSchema>;

/** What a batch was asked for, as stores and the interface have it. */
export const askedMembers = {
  batchId: text,
  app: int,
  ruleId: int64.nullable(),
  confId: int64.nullable(),
  cases: int.describe('How many there are; each has an item for each target.'),
  concurrency: int,
  stopAfterFailures: int.nullable(),
  keyName: text.nullable(),
  createdAt: time,
  file: text.nullable().describe('The file that its cases were read from; null when they came from elsewhere.'),
  etag: text.nullable().describe('The state of the saved cases that it runs; null when its cases were given.'),
  from: text.nullable().describe('The batch whose cases it runs again, in part.'),
  against: text.optional().describe('`recorded`, or a target, which runs first: what its runs are compared with.'),
  dryRun: z.boolean(),
  ignore: z.array(text).describe('Paths in the data that count for nothing.'),
};
const batchMembers = {
  ...askedMembers,
  endedAt: time.nullable(),
  state: batchStateSchema,
  counts: countsSchema,
  targets: z.array(z.object({ target: text, counts: countsSchema })),
  setAside: setAsideSchema
    .optional()
    .describe(
      'What was left out: how many, and of `recorded` runs why; when it is taken also the mistakes of the cases.',
    ),
};
/** A batch as the interface shows it: what was asked for, and how far it is. */
export const batchBodySchema = z
  .object({ ...batchMembers, items: int.describe('One for each case and target.') })
  .meta({ id: 'Batch' });
export type BatchBody = z.output<typeof batchBodySchema>;
export const batchListSchema = z.object(pageOf(batchBodySchema)).meta({ id: 'BatchList' });

export const cancelledBatchSchema = z.object({ batchId: text, state: batchStateSchema });

const itemMembers = {
  n: int,
  name: text,
  line: int.nullable(),
  target: text,
  verdict: verdictSchema,
  outcome: ranToSchema.nullable(),
  address: text.nullable(),
  code: codeSchema.nullable(),
  reason: text.nullable().describe('Why there is no answer; null where there is one.'),
  params: paramsSchema,
  mayHaveRun: z.boolean(),
  error: text.nullable(),
  tookMs: int.nullable(),
  mockId: text.nullable(),
  rules: rulesOfRunSchema.nullable(),
  parting: namedNodeSchema
    .nullable()
    .describe('The first node at which it took another way than the run it is compared with.'),
};

/** An item in a list. The last five are there with `?include=details`. */
const listedItemSchema = z
  .object({
    ...itemMembers,
    differences: int,
    [DATA_FIELD]: jsonObject.nullable().optional(),
    expect: jsonObject.nullable().optional(),
    decidedBy: namedNodeSchema.nullable().optional(),
    judged: z.object({ differences: z.array(differenceSchema), notChecked: z.array(notCheckedSchema) }).optional(),
    of: text.nullable().optional().describe('The execution that it repeats.'),
  })
  .meta({ id: 'ListedBatchItem' });
export type ListedItem = z.output<typeof listedItemSchema>;
export const itemListSchema = z.object(pageOf(listedItemSchema)).meta({ id: 'BatchItemList' });

const found = {
  changed: jsonObject.nullable(),
  cut: z.boolean(),
  differences: z.array(differenceSchema),
  notChecked: z.array(notCheckedSchema),
};
export const wholeItemSchema = z
  .object({
    ...itemMembers,
    ts: int64.nullable(),
    [DATA_FIELD]: jsonObject,
    expect: jsonObject.nullable(),
    ...found,
    nodes: z.record(text, z.array(text)).nullable(),
    ignore: z.array(text).describe('Paths in the data that count for nothing in this batch.'),
    masked: z
      .array(text)
      .describe('The fields that are hidden here (MASK), by their paths in the data; `*`: all of it (HISTORY_OFF).'),
  })
  .meta({ id: 'WholeBatchItem' });
export type WholeItem = z.output<typeof wholeItemSchema>;

/** A batch with all its items, as its report in JSON has it. */
export const batchReportSchema = z.object({
  ...batchMembers,
  items: z.array(z.object({ ...itemMembers, mockId: text, ...found })),
});
export type BatchReport = z.output<typeof batchReportSchema>;

/** In how many cases each node ran, and to which states it came. `unknown`: runs whose trace does not say. */
export const coverageSchema = z.object({
  cases: int,
  unknown: int,
  nodes: z.record(text, z.object({ ran: int, states: z.record(text, int) })),
});
export type Coverage = z.output<typeof coverageSchema>;
