import { z } from 'zod';
import {
  batchStates,
  countsSchema,
  DEFAULT_CONCURRENCY,
  MAX_CONCURRENCY,
  MAX_ITEMS,
  notCheckedSchema,
} from '../../../shared/cases/batch.ts';
import { nodeStateNames } from '../../../shared/cases/case.ts';
import { differenceSchema } from '../../../shared/cases/judging/difference.ts';
import { outcomeNames, verdictSchema } from '../../../shared/cases/verdict.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { paramsSchema } from '../../../shared/contract/endings/outcomes.ts';
import { rulesOfRunSchema } from '../../../shared/contract/rules-of-run.ts';
import { targetForms } from '../../../shared/contract/target.ts';
import { int, int64, jsonObject, time } from '../../../shared/contract/wire.ts';
import { asJson } from '../json-schema.ts';

const namedNode = z.object({ id: z.string(), name: z.string() }).nullable();

export const batchAnswer = z
  .object({
    batchId: z.string(),
    app: int,
    ruleId: int64.nullable(),
    confId: int64.nullable(),
    cases: int,
    items: int,
    concurrency: int,
    stopAfterFailures: int.nullable(),
    keyName: z.string().nullable(),
    createdAt: time,
    endedAt: time.nullable(),
    file: z.string().nullable(),
    etag: z.string().nullable(),
    from: z.string().nullable(),
    against: z.string().optional().meta({ description: '`recorded`, or a target: what its runs are compared with.' }),
    dryRun: z.boolean(),
    ignore: z.array(z.string()),
    state: z.enum(batchStates),
    counts: countsSchema,
    targets: z.array(z.object({ target: z.string(), counts: countsSchema })),
    setAside: z
      .object({ cases: int, errors: z.array(z.object({ field: z.string(), message: z.string() })) })
      .optional()
      .meta({
        description:
          'What was left out: of `recorded` runs how many and why; when it is taken also the mistakes of the cases.',
      }),
  })
  .meta({ id: 'Batch' });

const itemAnswer = z
  .object({
    n: int,
    name: z.string(),
    line: int.nullable(),
    target: z.string(),
    verdict: verdictSchema,
    outcome: z.enum(outcomeNames).nullable(),
    address: z.string().nullable(),
    code: z.string().nullable(),
    reason: z.string().nullable(),
    params: paramsSchema,
    mayHaveRun: z.boolean(),
    error: z.string().nullable(),
    tookMs: int.nullable(),
    mockId: z.string().nullable(),
    rules: rulesOfRunSchema.nullable(),
    parting: namedNode.meta({
      description: 'The first node at which it took another way than the run it is compared with.',
    }),
    differences: int,
  })
  .meta({ id: 'BatchItem' });

/** An item in a list. The last five are there with `?include=details`. */
export const listedItemAnswer = itemAnswer
  .extend({
    [DATA_FIELD]: jsonObject.nullable().optional(),
    expect: jsonObject.nullable().optional(),
    decidedBy: namedNode.optional(),
    judged: z.object({ differences: z.array(differenceSchema), notChecked: z.array(notCheckedSchema) }).optional(),
    of: z.string().nullable().optional().meta({ description: 'The execution that it repeats.' }),
  })
  .meta({ id: 'ListedBatchItem' });

export const wholeItemAnswer = itemAnswer
  .extend({
    ts: time.nullable(),
    [DATA_FIELD]: jsonObject,
    expect: jsonObject.nullable(),
    changed: jsonObject.nullable(),
    cut: z.boolean(),
    nodes: z.record(z.string(), z.array(z.string())).nullable(),
    differences: z.array(differenceSchema),
    notChecked: z.array(notCheckedSchema),
    ignore: z.array(z.string()).meta({ description: 'Paths in the data that count for nothing in this batch.' }),
    masked: z.array(z.string()).meta({
      description: 'The fields that are hidden here (MASK), by their paths in the data; `*`: all of it (HISTORY_OFF).',
    }),
  })
  .meta({ id: 'WholeBatchItem' });

export const stateAnswer = z.object({ batchId: z.string(), state: z.enum(batchStates) });
const expectation = z
  .object({
    outcome: z.enum(outcomeNames),
    data: jsonObject.meta({
      description: 'A subset of the data after the run. `{"$any":true}` and `{"$approx":20,"$by":0.01}` are operators.',
    }),
    absent: z.array(z.string()).meta({ description: 'Paths that must not be there, such as `items[0].tax`.' }),
    nodes: z.record(z.string(), z.enum(nodeStateNames)),
    error: z.string(),
    withinMs: int,
  })
  .partial();

export const batchRequest = z
  .object({
    app: asJson({ type: 'integer', format: 'int32', minimum: 1 }),
    ruleId: int64.nullable().optional(),
    confId: int64.nullable().optional(),
    ts: time.nullable().optional(),
    targets: z
      .array(z.string())
      .optional()
      .meta({
        description: `${targetForms.map((form) => `\`${form}\``).join(', ')}, or \`client:*\` for each client that is online.`,
      }),
    cases: z
      .array(
        z
          .object({
            name: z.string(),
            [DATA_FIELD]: jsonObject,
            ts: time,
            tags: z.array(z.string()),
            skip: z.boolean(),
            line: int,
            expect: expectation,
          })
          .partial(),
      )
      .optional()
      .meta({ description: `What to run; with the targets at most ${MAX_ITEMS} runs.` }),
    saved: z.boolean().optional().meta({ description: '`true`: run the saved cases of the rule or node instead.' }),
    recorded: z
      .array(z.string())
      .optional()
      .meta({
        description: `Make these earlier executions of the rule again instead, each as of its own time unless \`ts\` is given, and compare each with what it came to before; at most ${MAX_ITEMS}.`,
      }),
    against: z.string().optional().meta({
      description: 'One of the targets, which runs first: the runs of the others are compared with its runs.',
    }),
    from: z.string().optional().meta({ description: 'Run cases of this batch again instead.' }),
    verdict: z
      .array(verdictSchema)
      .optional()
      .meta({ description: 'With `from`: only cases with one of these verdicts.' }),
    concurrency: z
      .int()
      .min(1)
      .max(MAX_CONCURRENCY)
      .default(DEFAULT_CONCURRENCY)
      .meta({ description: 'Open runs at one client, those of all batches together.' }),
    stopAfterFailures: asJson({ type: 'integer', format: 'int32', minimum: 1 }).optional(),
    dryRun: z.boolean().optional().meta({
      description: `\`true\`: without effects, as in execute. Left out, it is \`true\` with \`recorded\`, and where \`from\` names a batch of dry runs.`,
    }),
    ignore: z.array(z.string()).optional().meta({
      description:
        'Paths in the data that are other at each run, such as `coupon.id` and `items[*].at`: they count neither for verdicts nor for differences between targets.',
    }),
    file: z.string().optional().meta({ description: 'Where the cases come from, for reports.' }),
  })
  .meta({ id: 'BatchRequest' });
