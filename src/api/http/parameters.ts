import { z } from 'zod';
import type { Problem } from '../calls/read-request.ts';

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;
const MAX_LIMIT = 100;

/** An integer of a query string; an empty parameter and a 0 are absent. */
function integer(max: bigint) {
  const error = `must be an integer from 1 to ${max}`;
  return z
    .string()
    .regex(/^\d{0,30}$/, error)
    .transform((text) => BigInt(text))
    .refine((value) => value <= max, error)
    .transform((value) => (value === 0n ? null : value))
    .optional()
    .transform((value) => value ?? null);
}

const appId = integer(INT32_MAX);
const ruleOrNode = integer(INT64_MAX).transform((value) => value?.toString() ?? null);
const text = z
  .string()
  .optional()
  .transform((value) => value || null);

/** The description of the interface has this in the place of the text that is validated. */
const asApp = { json: { type: 'integer', format: 'int32', minimum: 1, maximum: Number(INT32_MAX) } };
const asInt32 = { json: { ...asApp.json, minimum: 0 } };
const asInt64 = { json: { type: 'integer', format: 'int64', minimum: 0 } };

const app = appId
  .transform((value, context) => {
    if (value !== null) return Number(value);
    context.addIssue({ code: 'custom', message: `must be an integer from 1 to ${INT32_MAX}` });
    return z.NEVER;
  })
  .meta({ ...asApp, description: 'The app.', required: true });

/** `?app=` */
export const appParameters = z.object({ app });

/** `?app=&ruleId=|confId=` */
export const selectedParameters = {
  app,
  ruleId: ruleOrNode.meta({ ...asInt64, description: 'The rule. It or confId must be there.' }),
  confId: ruleOrNode.meta({
    ...asInt64,
    description: 'A node: the sub-tree below it. With ruleId: inside that rule.',
  }),
};
const needsAnId = {
  path: ['ruleId'],
  error: 'give ruleId or confId',
  when: ({ issues }: { issues: { path?: PropertyKey[] | undefined }[] }) =>
    !issues.some(({ path }) => path?.[0] === 'ruleId' || path?.[0] === 'confId'),
};
const hasAnId = ({ ruleId, confId }: { ruleId: string | null; confId: string | null }) =>
  ruleId !== null || confId !== null;

/** The rule that a query string selects, and the client whose metadata is wanted. */
export const selectionParameters = z
  .object({
    ...selectedParameters,
    lane: text.meta({ description: 'Whose metadata is wanted: a client of this lane.' }),
    address: text.meta({ description: 'Whose metadata is wanted: the client at this address.' }),
  })
  .refine(hasAnId, needsAnId);

/** The executions to list. */
export const listParameters = z.object({
  app: appId
    .transform((value) => (value === null ? undefined : Number(value)))
    .meta({ ...asInt32, description: 'Only executions of this app.' }),
  ruleId: ruleOrNode
    .transform((value) => value ?? undefined)
    .meta({ ...asInt64, description: 'Only executions of this rule.' }),
  batchId: text
    .transform((value) => value ?? undefined)
    .meta({ json: { type: 'string' }, description: 'Only items of this batch. Without it: none of any batch.' }),
  limit: z
    .string()
    .default('')
    .transform((given) => (given === '' ? 20 : Number(given)))
    .refine((value) => Number.isInteger(value) && value >= 1 && value <= MAX_LIMIT, {
      error: `must be a whole number from 1 to ${MAX_LIMIT}`,
    })
    .meta({ json: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 20 }, description: 'How many at most.' }),
  include: z
    .string()
    .optional()
    .transform((value) => value || undefined)
    .refine((value) => value === undefined || value === 'input', { error: 'must be input' })
    .meta({ json: { type: 'string', enum: ['input'] }, description: '`input`: each with its input, up to 4 KiB.' }),
  cursor: text
    .transform((value) => value ?? undefined)
    .meta({
      json: { type: 'string', pattern: '^[A-Za-z0-9_-]*$' },
      description: 'The `nextCursor` of the page before. Without it: the newest.',
    }),
});

/** What to read of an execution beside it. */
export const executionParameters = z.object({
  include: text
    .refine((value) => value === null || value === 'tree', { error: 'must be tree' })
    .meta({
      json: { type: 'string', enum: ['tree'] },
      description: '`tree`: also the tree of the rules it ran on, as they were then; null where it is not kept.',
    }),
});

/** Whether to erase an execution instead of cancelling it. */
export const eraseParameters = z.object({
  erase: z
    .enum(['true', 'false'], { error: 'must be true or false' })
    .default('false')
    .transform((given) => given === 'true')
    .meta({
      json: { type: 'boolean', default: false },
      description: 'Erase one that has ended, with every trace, instead of cancelling one that has not. Needs `ops`.',
    }),
});

/** Reads a query string. Unknown parameters are ignored; a bad one is named, with everything else that is wrong. */
export function readParameters<T extends z.ZodObject>(
  schema: T,
  given: Record<string, string[]>,
): { kind: 'read'; value: z.output<T> } | { kind: 'bad'; problems: Problem[] } {
  const values = Object.entries(given).map(([name, all]) => [name, all.filter((value) => value !== '')] as const);
  const repeated = values.filter(([name, { length }]) => name in schema.shape && length > 1);
  const parsed = schema.safeParse(Object.fromEntries(values.map(([name, [value = '']]) => [name, value])));
  if (parsed.success && repeated.length === 0) return { kind: 'read', value: parsed.data };
  const twice = repeated.map(([field, { length }]) => ({ field, message: `must be given once, found ${length}` }));
  const bad = (parsed.error?.issues ?? []).map(({ path, message }) => ({ field: path.join('.'), message }));
  return {
    kind: 'bad',
    problems: [...twice, ...bad.filter(({ field }) => !twice.some((each) => each.field === field))],
  };
}
