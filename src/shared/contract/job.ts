import { z } from 'zod';
import { DATA_FIELD } from './data-field.ts';
import type { Member } from './json-tokens.ts';
import { integerOf, RawNumber } from './raw-number.ts';
import { stepSchema } from './states.ts';
import { formatTarget, parseTarget } from './target.ts';

export { DATA_FIELD };

/**
 * The version of what API and worker say about an execution: a job's data, and the result in the same version. Added fields
 * need no new one; where a name or a meaning changes, the new version reads all earlier ones.
 */
export const JOB_VERSION = 1;

/** The `v` of a form that is known up to this version. A newer one is for others to read. */
export const knownUpTo = (version: number) => z.int().min(1).max(version);

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;

/** A JSON object or array kept as the text it was written in. */
class RawJson {
  readonly kind: 'object' | 'array';
  readonly raw: string;
  constructor(kind: 'object' | 'array', raw: string) {
    this.kind = kind;
    this.raw = raw;
  }
}

const found = (value: unknown): string => {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (value instanceof RawNumber) return `the number ${shortened(value.text)}`;
  if (value instanceof RawJson) return value.kind === 'array' ? 'an array' : 'an object';
  if (typeof value === 'bigint') return shortened(value.toString());
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`;
};
const shortened = (text: string) => (text.length > 40 ? `${text.slice(0, 37)}…` : text);

const integer = (what: string, min: bigint, max: bigint) =>
  z
    .bigint({ error: (issue) => `must be ${what}, found ${found(issue.input)}` })
    .refine((value) => value >= min && value <= max, {
      error: (issue) => `must be ${what}, found ${found(issue.input)}`,
    });

const absentable = <T extends z.ZodType<bigint>>(schema: T) =>
  schema.nullish().transform((value) => (value === null || value === undefined || value === 0n ? null : value));

const id = absentable(integer(`an integer from 1 to ${INT64_MAX} (0 or null: absent)`, 0n, INT64_MAX));

/** What the interface's description says in the place of the bigint that is validated. */
const int64 = { json: { type: ['integer', 'null'], format: 'int64', minimum: 0 } };

/** The body of execute, after its members were read with `memberValue`. Names and types are fixed. */
export const executeRequestSchema = z
  .object({
    app: integer(`an integer from 1 to ${INT32_MAX}`, 1n, INT32_MAX)
      .transform(Number)
      .meta({ json: { type: 'integer', format: 'int32', minimum: 1 }, description: 'The app.' }),
    ruleId: id.meta({ ...int64, description: 'The rule. It or confId must be there; 0 and null are absent.' }),
    confId: id.meta({
      ...int64,
      description: 'A node: run the sub-tree below it. With ruleId: as a part of that rule.',
    }),
    ts: absentable(integer('a time in milliseconds since 1970 (0 or null: now)', 0n, INT64_MAX)).meta({
      ...int64,
      description: 'Run as of this time, epoch milliseconds.',
    }),
    [DATA_FIELD]: z
      .custom<RawJson>((value) => value instanceof RawJson && value.kind === 'object', {
        error: (issue) => `must be a JSON object, found ${found(issue.input)}`,
        abort: false, // so that missing ids are told as well
      })
      .nullish()
      .transform((value) => value?.raw ?? '{}')
      .meta({
        json: { type: ['object', 'null'] },
        description: "The rule's input. Every number reaches the client as it is written here.",
      }),
    scene: z
      .string({ error: (issue) => `must be a string, found ${found(issue.input)}` })
      .nullish()
      .transform((name) => name || null)
      .meta({
        json: { type: ['string', 'null'] },
        description: 'Instead of ruleId: runs the first released rule (the lowest id) of this scene.',
      }),
    target: z
      .string({ error: (issue) => `must be a string, found ${found(issue.input)}` })
      .nullish()
      .transform((text, context) => {
        const parsed = parseTarget(text ?? '');
        if (parsed.kind === 'malformed') {
          context.addIssue({ code: 'custom', message: parsed.message });
          return z.NEVER;
        }
        return parsed;
      })
      .meta({
        json: { type: ['string', 'null'], pattern: '^(all|lane:.+|address:.+)?$', default: 'all' },
        description: 'Where to run: `all` (any client), `lane:<lane>` or `address:<address>`.',
      }),
  })
  .refine(({ scene, ruleId, confId }) => scene === null || (ruleId === null && confId === null), {
    path: ['scene'],
    error: 'names the rule to run: give it without ruleId and confId',
  })
  .refine(({ scene, ruleId, confId }) => ruleId !== null || confId !== null || scene !== null, {
    path: ['ruleId'],
    error: 'give ruleId or confId: there is nothing to run',
    // Also told when other fields are bad, unless the ids themselves are.
    when: ({ issues }) => !issues.some(({ path }) => path?.[0] === 'ruleId' || path?.[0] === 'confId'),
  });
export type AskedRequest = z.output<typeof executeRequestSchema>;
/** What runs: its rule is known by its id, also where a scene named it. */
export type ExecuteRequest = Omit<AskedRequest, 'scene'>;

/** A member's value for validation: integers as bigint, other numbers and containers as the text they were written in. */
export function memberValue({ kind, raw }: Member): unknown {
  if (kind === 'number') return integerOf(raw) ?? new RawNumber(raw);
  if (kind === 'object' || kind === 'array') return new RawJson(kind, raw);
  return JSON.parse(raw); // a string, true, false or null: nothing a parser could round
}

const decimal = z.string().regex(/^\d{1,19}$/);

/** What travels in the queue for one execution; its job id is the mockId. Ids and ts are decimal text: int64 stays exact. */
export const jobDataSchema = z.object({
  v: knownUpTo(JOB_VERSION),
  /** Where its ending is told; a job of an earlier version does not say. */
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
  /** Nothing of its app is kept, and its caller did not wait: the answer stays with the job to be collected. */
  collect: z.boolean().optional(),
  /** The queue store had lost it, and with it whether a worker began it. */
  addedAgain: z.boolean().optional(),
});
export type JobData = z.infer<typeof jobDataSchema>;

/** The data without the input, as lists and followers read it. */
export const jobHeadSchema = jobDataSchema.omit({ input: true });

/** What the data of every version has: enough to end a job that cannot be read, and to know by when. */
export const jobEnvelopeSchema = jobDataSchema.pick({ claimBy: true }).extend({ v: z.int().min(1) });

/** Job data of one accepted request. `claimBy`: epoch ms after which no worker may begin it. */
export function toJobData(
  request: ExecuteRequest,
  {
    claimBy,
    keyName,
    replyTo,
    collect,
  }: Pick<JobData, 'claimBy' | 'keyName'> & { replyTo?: string; collect?: boolean },
): JobData {
  return {
    v: JOB_VERSION,
    ...(replyTo !== undefined && { replyTo }), // near the front, where it is found without reading the input
    app: request.app,
    ruleId: request.ruleId?.toString() ?? null,
    confId: request.confId?.toString() ?? null,
    ts: request.ts?.toString() ?? null,
    target: formatTarget(request.target),
    input: request[DATA_FIELD],
    claimBy,
    keyName,
    ...(collect && { collect }),
  };
}

/** Something about an execution its caller should know, that did not keep it from running. `nodeId` is decimal text. */
export const warningSchema = z.object({ code: z.string(), message: z.string(), nodeId: z.string().optional() });
export type Warning = z.infer<typeof warningSchema>;

/** What a rule came to: its root's state, with inversion done. */
export const decisionSchema = z.enum(['TRUE', 'FALSE', 'NONE']);
export type Decision = z.infer<typeof decisionSchema>;

/** What a job returns when the client answered: the answer itself when small, else where it was put. */
export const jobResultSchema = z.object({
  v: knownUpTo(JOB_VERSION),
  address: z.string(),
  success: z.boolean(),
  /** What its trace says the rule came to. */
  decision: decisionSchema.nullable().optional(),
  body: z.string().optional(),
  stored: z.string().optional(),
  warnings: z.array(warningSchema).optional(),
  /** How it went on after it was queued. */
  steps: z.array(stepSchema).optional(),
  /** The time of the result file, epoch ms. */
  answeredAt: z.number().optional(),
});
export type JobResult = z.infer<typeof jobResultSchema>;
