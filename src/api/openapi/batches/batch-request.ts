import { z } from 'zod';
import { DEFAULT_CONCURRENCY, MAX_CONCURRENCY, MAX_ITEMS } from '../../../shared/cases/batch.ts';
import { ranToSchema, verdictSchema } from '../../../shared/contract/batches.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { targetForms } from '../../../shared/contract/target.ts';
import { nodeStateNames } from '../../../shared/contract/verdict.ts';
import { int, int64, jsonObject, time } from '../../../shared/contract/wire.ts';
import { asJson } from '../json-schema.ts';

const expectation = z
  .object({
    outcome: ranToSchema,
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
      description:
        'One of the targets, which runs first: the runs of the others are compared with its runs. Where there are several and no case expects anything, the first is.',
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
