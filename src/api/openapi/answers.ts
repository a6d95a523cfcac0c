import { z } from 'zod';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { codeSchema, paramsSchema } from '../../shared/contract/endings/codes.ts';
import { outcomeSchema } from '../../shared/contract/job.ts';
import { int, int64, json, jsonObject, mockId, text, time } from '../../shared/contract/wire.ts';
import { asJson } from './json-schema.ts';

const STEP_OUTCOMES = ['TRUE', 'FALSE', 'NONE', 'ERROR', 'OUT_OF_TIME', 'REJECTED'];
const milliseconds = asJson({ type: 'number' });
const id = int64.describe('The id of the node.');
const value = json.optional().describe('As it was; absent where it was absent, or too long to be carried.');
const access = { key: text, deep: z.literal(true).optional() };
const stepOfTrace = z
  .looseObject({
    nodeId: int64,
    name: text,
    role: z.enum(['root', 'forward', 'child']),
    parent: int.nullable().describe('The index of its parent in the list.'),
    outcome: text.meta({ json: { type: 'string', enum: STEP_OUTCOMES } }),
    inverted: z.boolean(),
    start: milliseconds,
    ms: milliseconds,
    error: text.optional(),
    instead: text.optional().describe('What its error counts as.'),
    reads: z.array(z.looseObject({ ...access, value })),
    writes: z.array(z.looseObject({ ...access, before: value, after: value })),
  })
  .meta({ id: 'TraceStep' });

/** The answer of a client, to the letter: it has at least the first six members. The others are those of clients that write them. */
export const resultAnswer = z
  .looseObject({
    mockId,
    success: z.boolean(),
    [DATA_FIELD]: jsonObject.describe('The data after the rule ran.'),
    process: asJson({}).describe("The client's trace of the rule, null when it wrote none."),
    error: asJson({}).describe('The error of the rule, null when there is none.'),
    executeAt: time.describe('When the client ran it, epoch milliseconds.'),
    outcome: outcomeSchema.nullable().optional().describe('What the rule came to; null where it came to nothing.'),
    ts: asJson({})
      .optional()
      .describe('The time that it ran as of, as the client wrote it: our clients write epoch milliseconds.'),
    rules: z
      .looseObject({ version: int64, digest: text })
      .optional()
      .describe('The rules that ran: their version, and the digest that GET tree has as well.'),
    dryRun: z.literal(true).optional().describe('It had no effects.'),
    effects: z
      .looseObject({
        assumed: z.array(id).describe('Not called, and counted as TRUE.'),
        stubbed: z.array(id),
        unsure: z.array(id).describe('Called, though they do not say whether they have effects.'),
      })
      .optional()
      .describe('Of a dry run: what was done with its nodes.'),
    warnings: z.array(text).optional().describe('What the client left out of the rule, and why.'),
    steps: z
      .array(stepOfTrace)
      .optional()
      .describe('The trace with what each node read and wrote, in the order of its beginnings.'),
    stepsNotRecorded: int.optional().describe('Of a long trace: how many steps are not in it.'),
  })
  .meta({ id: 'Result', description: 'The result as the client wrote it, to the last digit.' });

/** Why there is no client's answer, in the shape of one. */
export const noAnswerAnswer = z
  .strictObject({
    mockId,
    success: z.literal(false),
    [DATA_FIELD]: jsonObject,
    process: z
      .null()
      // Generators have no type for a member that is always null.
      .meta({ json: { type: ['string', 'null'] }, description: 'Always null.' }),
    error: text.describe('One sentence: who, what happened, what to do.'),
    executeAt: time.describe('When the execution ended, epoch milliseconds.'),
    code: codeSchema,
    reason: text.describe('What happened, for programs; the documents list the reasons of each code.'),
    params: paramsSchema,
    mayHaveRun: z.boolean().describe('False only when the rule cannot have run.'),
  })
  .meta({ id: 'NoAnswer', description: 'No client answered.' });

export const healthAnswer = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });

export const readyAnswer = z
  .strictObject({
    status: z.enum(['ready', 'not ready']),
    queue: z.enum(['up', 'down']),
    reason: z.string().nullable().describe('Why the queue store cannot be used.'),
    workers: int,
    problems: z.array(z.string()).describe('What is the matter with the shared directory, as workers say.'),
    waiting: int,
    active: int,
  })
  .meta({ id: 'Ready' });
