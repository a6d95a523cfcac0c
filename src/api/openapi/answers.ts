import { z } from 'zod';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { codeSchema, paramsSchema } from '../../shared/contract/endings/codes.ts';
import { outcomeSchema } from '../../shared/contract/job.ts';
import { int, jsonObject, mockId, text, time } from '../../shared/contract/wire.ts';
import { asJson } from './json-schema.ts';

const passedOn = (description: string) => asJson({}).optional().describe(`${description} Not checked.`);

/**
 * The answer of a client, to the letter. The worker checks `mockId`, `success`, the data, `executeAt`, `outcome` and `dryRun`, and fills in what
 * is missing of the first six members; every other member is passed on as the client wrote it, and described as our clients write it.
 */
export const resultAnswer = z
  .looseObject({
    mockId,
    success: z.boolean(),
    [DATA_FIELD]: jsonObject.describe('The data after the rule ran.'),
    process: asJson({}).describe("The client's trace of the rule, null when it wrote none."),
    error: asJson({}).describe('The error of the rule, null when there is none.'),
    executeAt: time.describe('When the client ran it, epoch milliseconds.'),
    outcome: outcomeSchema.nullable().optional().describe('What the rule came to; null where it came to nothing.'),
    dryRun: z.boolean().nullable().optional().describe('True: it had no effects.'),
    ts: passedOn('The time that it ran as of, epoch milliseconds.'),
    rules: passedOn('The rules that ran: their `version`, and the `digest` that GET tree has as well.'),
    effects: passedOn(
      'Of a dry run, nodes: `assumed` (not called, counted as TRUE), `stubbed`, and `unsure` (called, though they do not say whether they have effects).',
    ),
    warnings: passedOn('What the client left out of the rule, and why: a list of texts.'),
    steps: passedOn(
      'The trace as a list, in the order of its beginnings: `nodeId`, `name`, `role`, `parent` (an index), `outcome`, `inverted`, `start` and `ms`, and what the node `reads` and `writes`.',
    ),
    stepsNotRecorded: passedOn('Of a long trace: how many steps are not in it.'),
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
