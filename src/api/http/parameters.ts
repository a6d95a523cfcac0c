import type { Context } from 'hono';
import { z } from 'zod';
import { codeSchema } from '../../shared/contract/endings/codes.ts';
import { stateSchema } from '../../shared/contract/endings/states.ts';
import { because, issueOf, problemsOf } from '../../shared/contract/issues.ts';
import { readMoment } from '../../shared/contract/moment.ts';
import { unknownNames } from '../../shared/contract/nearest.ts';
import { parseTarget, TARGET_PATTERN } from '../../shared/contract/target.ts';
import { decisionNames } from '../../shared/contract/verdict.ts';
import { type Problem, problemAt } from '../../shared/reasons/problems.ts';
import { readCondition } from '../executions/search/search-conditions.ts';
import type { Environment } from './environment.ts';

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;
const MAX_LIMIT = 100;

/** An integer of a query string; an empty parameter and a 0 are absent. */
function integer(max: bigint) {
  const bounds = because('invalid-type', { expected: 'integer', minimum: 1, maximum: `${max}` });
  return z
    .string()
    .refine((text) => /^\d{0,30}$/.test(text), { ...bounds, abort: true })
    .transform((text) => BigInt(text))
    .refine((value) => value <= max, bounds)
    .transform((value) => (value === 0n ? null : value))
    .optional()
    .transform((value) => value ?? null);
}

/** A whole number from 1 to `most`; `fallback` where it is absent or empty. */
export function wholeNumber(most: number, fallback: number) {
  const bounds = because('invalid-type', { expected: 'whole-number', minimum: 1, maximum: most });
  return z
    .string()
    .refine((text) => /^\d{0,9}$/.test(text), { ...bounds, abort: true })
    .transform((given) => (given === '' ? fallback : Number(given)))
    .refine((value) => value >= 1 && value <= most, bounds)
    .default(fallback);
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
    context.addIssue(issueOf({ problem: 'invalid-type', expected: 'integer', minimum: 1, maximum: Number(INT32_MAX) }));
    return z.NEVER;
  })
  .meta({ ...asApp, description: 'The app.' });

/** `?app=` */
export const appParameters = z.object({ app });

/** `?app=&ruleId=&target=`: which rules, and where they are to run. */
export const readinessParameters = z.object({
  app,
  ruleId: ruleOrNode.meta({ ...asInt64, description: 'Only this rule.' }),
  target: z
    .string()
    .default('all')
    .transform((value, context) => {
      const target = parseTarget(value);
      if (target.kind !== 'malformed') return target;
      context.addIssue(issueOf(target.fault));
      return z.NEVER;
    })
    .meta({
      json: { type: 'string', pattern: `^(${TARGET_PATTERN})$`, default: 'all' },
      description: 'Where they are to run.',
    }),
});

/** `?app=&ruleId=|confId=` */
export const selectedParameters = {
  app,
  ruleId: ruleOrNode.meta({ ...asInt64, description: 'The rule. It or confId must be there.' }),
  confId: ruleOrNode.meta({
    ...asInt64,
    description: 'A node: the sub-tree below it. With ruleId: inside that rule.',
  }),
};
export const needsAnId = {
  path: ['ruleId'],
  ...because('required-unless', { instead: 'confId' }),
  when: ({ issues }: { issues: { path?: PropertyKey[] | undefined }[] }) =>
    !issues.some(({ path }) => path?.[0] === 'ruleId' || path?.[0] === 'confId'),
};
export const hasAnId = ({ ruleId, confId }: { ruleId: string | null; confId: string | null }) =>
  ruleId !== null || confId !== null;

const selected = {
  ...selectedParameters,
  lane: text.meta({ description: 'Whose metadata is wanted: a client of this lane.' }),
  address: text.meta({ description: 'Whose metadata is wanted: the client at this address.' }),
};

/** The rule that a query string selects, and the client whose metadata is wanted. */
export const selectionParameters = z.object(selected).refine(hasAnId, needsAnId);

/** The same on a version, and on those before it. */
export const versionsParameters = z
  .object({
    ...selected,
    version: z
      .custom<string>(
        (value) => typeof value === 'string' && /^[1-9]\d{0,18}$/.test(value),
        because('invalid-format', { expected: 'version', example: '41' }),
      )
      .meta({
        ...asInt64,
        description: 'The newest that is wanted, one of the last 100, or the `nextCursor` of the page before.',
      }),
  })
  .refine(hasAnId, needsAnId);

/** The same, and whether the settings of the nodes are wanted. */
export const schemaParameters = z
  .object({
    ...selected,
    include: text
      .refine((value) => value === null || value === 'settings', because('invalid-value', { value: 'settings' }))
      .transform((value) => value ?? undefined)
      .meta({
        json: { type: 'string', enum: ['settings'] },
        description: '`settings`: also all nodes that read each key, with their settings and how they decide by them.',
      }),
  })
  .refine(hasAnId, needsAnId);

const absentIfEmpty = text.transform((value) => value ?? undefined);
const textIfGiven = (description: string) => absentIfEmpty.meta({ json: { type: 'string' }, description });

const oneOf = (names: readonly string[], description: string) =>
  absentIfEmpty
    .refine(
      (value) => value === undefined || names.includes(value),
      because('invalid-value', { values: names.join(', ') }),
    )
    .meta({ json: { type: 'string', enum: [...names] }, description });

/** A day alone begins at midnight UTC. A time of day needs an offset: the zone of this process means nothing to the caller. */
const IS_DAY = /^\d{4}-?\d\d-?\d\d$/;

const moment = (description: string) =>
  absentIfEmpty
    .transform((value, context) => {
      if (value === undefined) return undefined;
      const read = readMoment(value, IS_DAY.test(value) ? 'UTC' : undefined);
      if (read.kind === 'moment') return Number(read.ms);
      context.addIssue(issueOf({ problem: read.kind }));
      return z.NEVER;
    })
    .meta({ json: { type: 'string' }, description });

/** `?where=` several times: conditions on an input. */
export const conditions = z
  .array(z.string())
  .refine((all) => all.length <= 20, because('too-often', { maximum: 20 }))
  .default([])
  .transform((all, context) => {
    const read = all.map(readCondition);
    const bad = read.find((condition) => 'code' in condition);
    if (bad === undefined) return read.filter((condition) => 'path' in condition);
    context.addIssue(issueOf({ ...bad.params, problem: bad.code }));
    return z.NEVER;
  })
  .meta({
    json: { type: 'array', items: { type: 'string' }, maxItems: 20 },
    description:
      'A condition on the input, such as `uid=42` or `order.total>=99.5`; several must all hold. `uid=42` also finds the text "42"; `uid="42"` finds the text alone.',
  });

/** The conditions of a search for executions. */
const searchParameters = {
  state: oneOf(stateSchema.options, 'Only executions in this state.'),
  outcome: oneOf([...decisionNames, 'no-result'], 'Only executions whose rule came to this.'),
  code: oneOf(codeSchema.options, 'Only executions that ended without an answer for this reason.'),
  from: moment(
    'Only executions begun at this time or later: epoch ms, an ISO 8601 time with an offset, or a day (UTC).',
  ),
  to: moment('Only executions begun before this time.'),
  address: textIfGiven('Only executions of the client at this address.'),
  lane: textIfGiven('Only executions of a client in this lane.'),
  comparisonId: textIfGiven('Only executions that are parts of this comparison.'),
  pinned: absentIfEmpty
    .refine((value) => value === undefined || value === 'true', because('invalid-value', { value: 'true' }))
    .transform((value) => (value === 'true' ? true : undefined))
    .meta({ json: { type: 'string', enum: ['true'] }, description: 'Only executions that are pinned.' }),
  by: textIfGiven('Only executions that this API key or person asked for.'),
  text: textIfGiven(
    'Words, each of which stands in the input, the id, the client, the target, the lane, the key, the code or the error.',
  ),
  where: conditions,
};

const searched = {
  ...searchParameters,
  app: appId
    .transform((value) => (value === null ? undefined : Number(value)))
    .meta({ ...asInt32, description: 'Only those of this app.' }),
  ruleId: ruleOrNode
    .transform((value) => value ?? undefined)
    .meta({ ...asInt64, description: 'Only those of this rule.' }),
  batchId: textIfGiven('Only items of this batch. Without it: none of any batch.'),
  cursor: absentIfEmpty.meta({
    json: { type: 'string', pattern: '^[A-Za-z0-9_-]*$' },
    description: 'The `nextCursor` of the answer before. Without it: the newest.',
  }),
};

/** The executions whose failures are grouped. */
export const failureParameters = z.object(searched);

/** The executions to list. */
export const listParameters = z.object({
  ...searched,
  limit: wholeNumber(MAX_LIMIT, 20).meta({
    json: { type: 'integer', minimum: 1, maximum: MAX_LIMIT, default: 20 },
    description: 'How many at most.',
  }),
  include: z
    .enum(['', 'input', 'details'])
    .default('')
    .transform((value) => value || undefined)
    .meta({
      json: { type: 'string', enum: ['input', 'details'] },
      description: '`input`: each with its input, up to 4 KiB. `details`: also the node that decided.',
    }),
});

/** Whether to read the tree of an execution with it. */
export const executionParameters = z.object({
  include: text
    .refine((value) => value === null || value === 'tree', because('invalid-value', { value: 'tree' }))
    .meta({
      json: { type: 'string', enum: ['tree'] },
      description: '`tree`: also the tree of the rules it ran on, as they were then; null where it is not kept.',
    }),
});

/** Whether to erase an execution instead of cancelling it. */
export const eraseParameters = z.object({
  erase: z
    .enum(['true', 'false'])
    .default('false')
    .transform((given) => given === 'true')
    .meta({
      json: { type: 'boolean', default: false },
      description: 'Erase one that has ended, with every trace, instead of cancelling one that has not. Needs `ops`.',
    }),
});

/** A request that takes no parameters. */
export const noParameters = z.object({});

type ReadParameters<T extends z.ZodObject> =
  | { kind: 'read'; value: z.output<T> }
  | { kind: 'bad'; problems: Problem[] };

/**
 * Reads the query string of a request, and names everything that is wrong with it. A parameter that is not known refuses a request that
 * changes something. An answer to one that only reads has it in its `warnings` (`warnOfParameters`).
 */
export function readParameters<T extends z.ZodObject>(schema: T, context: Context<Environment>): ReadParameters<T> {
  const known = Object.keys(schema.shape);
  const given = parametersOf(context);
  context.set('parameters', known);
  const unknown = isRead(context.req.method) ? [] : unknownNames([...given.keys()], known);
  const read = parseParameters(schema, given);
  if (unknown.length === 0) return read;
  return { kind: 'bad', problems: read.kind === 'bad' ? [...unknown, ...read.problems] : unknown };
}

export const isRead = (method: string) => method === 'GET' || method === 'HEAD';

/** The values of each parameter. A map, because callers choose the names, and an object has `constructor`. */
export function parametersOf({ req }: Pick<Context, 'req'>): Map<string, string[]> {
  const given = new Map<string, string[]>();
  const start = req.url.indexOf('?');
  if (start < 0) return given; // as nearly every call
  for (const [name, value] of new URLSearchParams(req.url.slice(start)))
    given.set(name, [...(given.get(name) ?? []), value]);
  return given;
}

/** The same without looking at parameters that are not known. */
export function parseParameters<T extends z.ZodObject>(
  schema: T,
  given: ReadonlyMap<string, readonly string[]>,
): ReadParameters<T> {
  const repeated: Problem[] = [];
  const values = Object.entries(schema.shape).flatMap(([name, member]): [string, unknown][] => {
    const all = given.get(name)?.filter((value) => value !== '');
    if (all === undefined) return [];
    if (isArrayOf(member)) return [[name, all]];
    if (all.length > 1) repeated.push(problemAt(name, 'repeated', { found: all.length }));
    return [[name, all[0] ?? '']];
  });
  const parsed = schema.safeParse(Object.fromEntries(values));
  if (parsed.success && repeated.length === 0) return { kind: 'read', value: parsed.data };
  const others = problemsOf(parsed.error?.issues ?? []).filter(
    ({ field }) => !repeated.some((each) => each.field === field),
  );
  return { kind: 'bad', problems: [...repeated, ...others] };
}

/** Whether a parameter may be given several times. */
function isArrayOf(schema: unknown): boolean {
  const meta = schema instanceof z.ZodType ? schema.meta()?.json : undefined;
  return typeof meta === 'object' && meta !== null && 'type' in meta && meta.type === 'array';
}
