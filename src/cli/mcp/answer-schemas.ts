import { z } from 'zod';
import { stateSchema } from '../../shared/contract/endings/states.ts';
import { outcomeSchema } from '../../shared/contract/job.ts';

/*
 * The answers of each tool, for programs. They are those of the HTTP interface, whose description has every member. These schemas have the
 * members that an assistant needs.
 */

/** Text where a 64-bit float does not hold the value. */
const number = z.union([z.number(), z.string()]);
const id = number.describe('As text when it has more than 15 digits.');
const anything = z.looseObject({}).describe('Numbers that a 64-bit float does not hold are text.');

const rule = z.looseObject({
  ruleId: id,
  name: z.string().nullable(),
  confId: id.nullable(),
  status: number.nullable(),
  scenes: z.array(z.string()),
});
const client = z.looseObject({
  address: z.string(),
  lane: z.string().nullable(),
  state: z.string(),
  loadedVersion: number.nullable(),
});

export const rulesAnswer = z.looseObject({
  items: z
    .array(z.looseObject({ app: number, name: z.string().nullable() }))
    .optional()
    .describe('The apps.'),
  rules: z.looseObject({ app: number, version: number.nullable(), items: z.array(rule) }).optional(),
  clients: z.looseObject({ app: number, items: z.array(client) }).optional(),
});

export const inputsAnswer = z.looseObject({
  fields: z.array(
    z.looseObject({
      key: z.string(),
      valueType: z.string().describe('The type of its values: String, Long, Double, …'),
      nodeId: id,
      nodeName: z.string(),
      nodes: z.array(
        z.looseObject({
          ...{ nodeId: id, nodeName: z.string(), settings: z.array(anything) },
          comparison: anything.nullable().describe('How the node compares it, where its client says so.'),
        }),
      ),
    }),
  ),
});

const execution = {
  mockId: z.string(),
  app: number,
  ruleId: id.nullable(),
  confId: id.nullable(),
  target: z.string(),
  address: z.string().nullable().describe('The client that it went to.'),
  state: stateSchema,
  outcome: outcomeSchema.nullable(),
  ending: z.looseObject({ status: z.number(), code: z.string().nullable(), mayHaveRun: z.boolean() }).nullable(),
  error: z.string().nullable(),
  dryRun: z.boolean(),
  input: anything.nullish(),
};

export const runsAnswer = z.looseObject({
  items: z.array(z.looseObject({ ...execution, at: number.nullable().describe('When it was asked for, epoch ms.') })),
  nextCursor: z.string().nullable(),
  searched: anything.optional().describe('How far a search came.'),
});

export const runAnswer = z.looseObject({
  ...execution,
  result: anything.nullish().describe('What its client answered.'),
});

export const explanationAnswer = z.looseObject({
  why: z.looseObject({
    outcome: z.string().nullable(),
    path: z
      .array(z.looseObject({ nodeId: z.string(), name: z.string(), outcome: z.string().nullable() }))
      .describe('The nodes that decided, from the root down.'),
    sentences: z.array(z.string()).describe('The reasons.'),
    change: anything.nullable().describe('The smallest change of the input with which it would be `to`.'),
  }),
  execution: runAnswer,
  tree: anything.describe('The tree of the rule as it ran, or `error`.'),
  aboutTheTree: z.string().describe('Which tree it is.'),
});

export const readinessAnswer = z.looseObject({
  app: number,
  target: z.string(),
  state: z.string().describe('can-ship, cannot-ship or not-tested: the worst of its rules.'),
  rules: z.array(
    z.looseObject({ ruleId: id, state: z.string(), findings: z.array(z.looseObject({ message: z.string() })) }),
  ),
});

export const sinceAnswer = z.looseObject({
  mockId: z.string(),
  outcome: z.string().nullable(),
  since: number.describe('The first version with this outcome, as far as it can be told.'),
  before: number.nullable().describe('The version before that; null where none can be read.'),
  versions: z.array(anything).describe('What each version looked at comes to.'),
});

export const commandOutput = z.looseObject({ text: z.string(), exitCode: z.int() });
