import { z } from 'zod';
import { DATA_FIELD } from './data-field.ts';
import { because, issueOf } from './issues.ts';
import { scanJson } from './json/exact-json.ts';
import type { Member } from './json/json-tokens.ts';
import { parseJson } from './json/parse-json.ts';
import { integerOf, RawJson, RawNumber } from './json/raw-number.ts';
import { cut } from './json/visible-text.ts';
import { isInSeconds } from './moment.ts';
import { anyForm, parseTarget, TARGET_PATTERN } from './target.ts';
import { decisionNames } from './verdict.ts';

const INT32_MAX = 2_147_483_647n;
const INT64_MAX = 9_223_372_036_854_775_807n;

/** An integer in these bounds. */
const integer = (expected: string, minimum: bigint, maximum: bigint) => {
  const exact = (bound: bigint) => (bound > Number.MAX_SAFE_INTEGER ? `${bound}` : Number(bound));
  const bounds = { expected, minimum: exact(minimum), maximum: exact(maximum) };
  return z.custom<bigint>().superRefine((value, context) => {
    const isInteger = typeof value === 'bigint';
    if (isInteger && value >= minimum && value <= maximum) return;
    const problem = !isInteger ? 'invalid-type' : value < minimum ? 'too-small' : 'too-big';
    context.addIssue(issueOf({ problem, ...bounds }));
  });
};

/** An id that a caller gave, and that is only handed on. */
const label = (pattern: RegExp, expected: string) =>
  z
    .custom<string>(
      (value) => typeof value === 'string' && pattern.test(value),
      because('invalid-format', { expected }),
    )
    .nullish()
    .transform((text) => text ?? null);

const isObject = (value: unknown) => value instanceof RawJson && value.kind === 'object';

const NO_STUBS = '{}';
const stubOf = z.union([
  z.enum(decisionNames),
  z.strictObject({ outcome: z.enum(decisionNames), set: z.looseObject({}).optional() }),
]);
const NODE_ID = /^[1-9]\d{0,18}$/;
const MAX_NAME_SHOWN = 60;

/** Stays the text it was written in: what it sets is exact. */
const stubs = z
  .custom<RawJson>(isObject, {
    ...because('invalid-type', {
      expected: 'stubs',
      example: '{"7":"TRUE","9":{"outcome":"NONE","set":{"points":3}}}',
    }),
    abort: true,
  })
  .superRefine((value, context) => {
    const scanned = scanJson(value.raw); // not a record of a library: that passes over a member with the name __proto__
    for (const { key, raw } of scanned.kind === 'complete' ? scanned.members : []) {
      const path = [cut(key, MAX_NAME_SHOWN)];
      const expected = !NODE_ID.test(key) ? 'node-id' : stubOf.safeParse(parseJson(raw)).success ? null : 'stub';
      if (expected !== null) context.addIssue({ ...issueOf({ problem: 'invalid-format', expected }), path });
    }
  })
  .nullish()
  .transform((value) => value?.raw ?? NO_STUBS);

const absentable = <T extends z.ZodType<bigint>>(schema: T) =>
  schema.nullish().transform((value) => (value === null || value === undefined || value === 0n ? null : value));

const id = absentable(integer('integer', 0n, INT64_MAX));

/** The description of the interface has this in the place of the bigint that is validated. */
const int64 = { json: { type: ['integer', 'null'], format: 'int64', minimum: 0 } };

/** The body of execute, after its members were read with `memberValue`. Names and types are fixed. */
export const executeRequestSchema = z
  .object({
    app: integer('integer', 1n, INT32_MAX)
      .transform(Number)
      .meta({ json: { type: 'integer', format: 'int32', minimum: 1 }, description: 'The app.' }),
    ruleId: id.meta({ ...int64, description: 'The rule. It or confId must be there; 0 and null are absent.' }),
    confId: id.meta({
      ...int64,
      description: 'A node: run the sub-tree below it. With ruleId: as a part of that rule.',
    }),
    ts: absentable(integer('milliseconds', 0n, INT64_MAX)).meta({
      ...int64,
      description: 'Run as of this time, epoch milliseconds.',
    }),
    debug: absentable(integer('integer', 0n, 255n))
      .transform((value) => (value === null ? null : Number(value)))
      .meta({
        json: { type: ['integer', 'null'], minimum: 0, maximum: 255, default: 0 },
        description:
          "What the client writes to its own log: 1 the input, 2 the trace, 4 the output, or their sum. The published SDKs take the rule's own setting when a whole rule runs.",
      }),
    dryRun: z
      .boolean()
      .nullish()
      .transform((asked) => asked ?? false)
      .meta({
        json: { type: ['boolean', 'null'], default: false },
        description:
          'Run without effects: a consequence, and a leaf that declares effects, is not called and counts as TRUE. Only clients that announce it can; where none can, nothing runs.',
      }),
    stub: stubs.meta({
      json: { type: ['object', 'null'], additionalProperties: true },
      description:
        'With dryRun: what stands in the place of nodes, by their id: TRUE, FALSE or NONE, or an object with `outcome` and the keys to `set`. It is the value after inversion, and holds wherever the node stands.',
    }),
    comparisonId: label(/^[\w-]{1,64}$/, 'label').meta({
      json: { type: ['string', 'null'], pattern: '^[A-Za-z0-9_-]{1,64}$' },
      description:
        'The comparison that this execution is a part of: those that compare give all of its executions the same id.',
    }),
    derivedFrom: label(/^[0-9a-f-]{36}$/, 'execution-id').meta({
      json: { type: ['string', 'null'], pattern: '^[0-9a-f-]{36}$' },
      description: 'The mockId of the execution that this one repeats, as it was or changed.',
    }),
    [DATA_FIELD]: z
      .custom<RawJson>(isObject, because('invalid-type', { expected: 'json-object' }))
      .nullish()
      .transform((value) => value?.raw ?? '{}')
      .meta({
        json: { type: ['object', 'null'], additionalProperties: true },
        description: "The rule's input. Every number reaches the client as it is written here.",
      }),
    scene: z
      .string()
      .nullish()
      .transform((name) => name || null)
      .meta({
        json: { type: ['string', 'null'] },
        description: 'Instead of ruleId: runs the first released rule (the lowest id) of this scene.',
      }),
    target: z
      .string()
      .nullish()
      .transform((text, context) => {
        const parsed = parseTarget(text ?? '');
        if (parsed.kind !== 'malformed') return parsed;
        context.addIssue(issueOf(parsed.fault));
        return z.NEVER;
      })
      .meta({
        json: { type: ['string', 'null'], pattern: `^(${TARGET_PATTERN})?$`, default: 'all' },
        description: `Where to run: ${anyForm('`')}; \`all\` is any client.`,
      }),
  })
  .refine(({ dryRun, stub }) => dryRun || stub === NO_STUBS, {
    path: ['stub'],
    ...because('without-dry-run', {}),
  })
  .refine(({ scene, ruleId, confId }) => scene === null || (ruleId === null && confId === null), {
    path: ['scene'],
    ...because('scene-and-id', {}),
  })
  .refine(({ scene, ruleId, confId }) => ruleId !== null || confId !== null || scene !== null, {
    path: ['ruleId'],
    ...because('required-unless', { instead: 'confId', or: 'scene' }),
    // Also told when other fields are bad, unless the ids themselves are.
    when: ({ issues }) => !issues.some(({ path }) => path?.[0] === 'ruleId' || path?.[0] === 'confId'),
  });

/** The same, as our own endpoints take it. Callers of the published server give `ts` as that server takes it. */
export const callSchema = executeRequestSchema.refine(({ ts }) => ts === null || !isInSeconds(ts), {
  path: ['ts'],
  ...because('time-in-seconds', {}),
});
export type AskedRequest = z.output<typeof executeRequestSchema>;
/** The request to run: its rule is known by its id, also where a scene named it. The scene is told to the leaves. */
export type ExecuteRequest = Omit<AskedRequest, 'scene'> & { scene?: string | null };

/** A member's value for validation: integers as bigint, other numbers and containers as the text they were written in. */
export function memberValue({ kind, raw }: Pick<Member, 'kind' | 'raw'>): unknown {
  if (kind === 'number') return integerOf(raw) ?? new RawNumber(raw);
  if (kind === 'object' || kind === 'array') return new RawJson(kind, raw);
  return JSON.parse(raw); // a string, true, false or null: nothing a parser could round
}
