import { z } from 'zod';
import { DEFAULT_CONCURRENCY, MAX_CONCURRENCY } from '../../shared/cases/batch.ts';
import { ranToSchema, verdictSchema } from '../../shared/contract/batches.ts';
import { because } from '../../shared/contract/issues.ts';
import { isTimeZone } from '../../shared/contract/moment.ts';
import { conditions, hasAnId, listParameters, needsAnId, selectedParameters, wholeNumber } from '../http/parameters.ts';

const text = z
  .string()
  .optional()
  .transform((value) => value || undefined);

/** How the body of a new batch is read. */
export const batchBodyParameters = z.object({
  invalid: z
    .enum(['', 'refuse', 'skip'])
    .default('')
    .transform((value) => value === 'skip')
    .meta({
      json: { type: 'string', enum: ['refuse', 'skip'], default: 'refuse' },
      description:
        '`refuse`: one case with a mistake refuses the batch. `skip`: cases with mistakes are set aside and named in `setAside`, and the others run.',
    }),
  timeZone: text
    .refine(
      (value) => value === undefined || isTimeZone(value),
      because('invalid-format', { expected: 'time-zone', example: 'Europe/Berlin' }),
    )
    .meta({
      json: { type: 'string' },
      description:
        'Of CSV: the time zone of times in `asOf` without an offset, such as `Europe/Berlin`. Without it, such a time is a mistake.',
    }),
});
export type BatchBodyParameters = z.infer<typeof batchBodyParameters>;

/** A body of CSV has rows only: what a JSON body says beside its cases is in the query. */
export const csvBatchParameters = batchBodyParameters
  .extend({
    ...selectedParameters,
    targets: z
      .array(z.string())
      .default([])
      .meta({ json: { type: 'array', items: { type: 'string' } } }),
    against: text,
    concurrency: wholeNumber(MAX_CONCURRENCY, DEFAULT_CONCURRENCY),
    dryRun: z
      .enum(['', 'true', 'false'])
      .default('')
      .transform((value) => (value === '' ? null : value === 'true')),
  })
  .refine(hasAnId, needsAnId);
export type CsvBatchParameters = z.infer<typeof csvBatchParameters>;

/** The batches to list. */
export const batchListParameters = listParameters.pick({ app: true, ruleId: true, limit: true, cursor: true });
export type BatchListParameters = z.infer<typeof batchListParameters>;

const target = text.meta({ description: 'Only items of this target, as the batch names it.' });

/** The items of a batch to list. */
export const itemParameters = z.object({
  target,
  verdict: z
    .enum(['', ...verdictSchema.options])
    .optional()
    .transform((value) => value || undefined)
    .meta({ json: { enum: verdictSchema.options }, description: 'Only items with this verdict.' }),
  outcome: z
    .enum(['', ...ranToSchema.options])
    .optional()
    .transform((value) => value || undefined)
    .meta({ json: { enum: ranToSchema.options }, description: 'Only items whose rule came to this.' }),
  where: conditions,
  include: z
    .enum(['', 'details'])
    .default('')
    .transform((value) => value === 'details')
    .meta({
      json: { type: 'string', enum: ['details'] },
      description:
        '`details`: also the input, if it has at most 4,096 characters, what was expected, and the node that decided, where its rules are still kept.',
    }),
  limit: wholeNumber(1000, 100).meta({
    json: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
    description: 'How many at most.',
  }),
  cursor: z
    .string()
    .refine((text) => /^\d{0,6}$/.test(text), because('foreign-cursor', {}))
    .default('')
    .meta({ json: { type: 'string', pattern: '^\\d{0,6}$' }, description: 'The `nextCursor` of the page before.' }),
});

export const coverageParameters = z.object({ target });

export const reportParameters = z.object({
  format: z
    .enum(['junit', 'csv', 'json', 'markdown'])
    .default('json')
    .meta({ json: { enum: ['junit', 'csv', 'json', 'markdown'], default: 'json' }, description: 'How it is written.' }),
});
