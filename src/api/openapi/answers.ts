import { z } from 'zod';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { codeSchema } from '../../shared/contract/endings/outcomes.ts';
import { jsonObject, mockId, text, time } from '../../shared/contract/wire.ts';
import { asJson } from './json-schema.ts';

const number = asJson({ type: 'number' });

/** The answer of a client, to the letter: it has at least these six members. */
export const resultAnswer = z
  .looseObject({
    mockId,
    success: z.boolean(),
    [DATA_FIELD]: jsonObject.describe('The data after the rule ran.'),
    process: asJson({}).describe("The client's trace of the rule, null when it wrote none."),
    error: asJson({}).describe('The error of the rule, null when there is none.'),
    executeAt: number.describe('When the client ran it, epoch milliseconds.'),
  })
  .meta({ id: 'Result', description: 'The result as the client wrote it, to the last digit.' });

/** Why there is no client's answer, in the shape of one. */
export const noAnswerAnswer = z
  .strictObject({
    mockId,
    success: z.literal(false),
    [DATA_FIELD]: jsonObject,
    process: z.null(),
    error: text.describe('One sentence: who, what happened, what to do.'),
    executeAt: time.describe('When the execution ended, epoch milliseconds.'),
    code: codeSchema,
    mayHaveRun: z.boolean().describe('False only when the rule cannot have run.'),
  })
  .meta({ id: 'NoAnswer', description: 'No client answered.' });

/** RFC 9457, with the members every answer has. */
export const problemAnswer = z
  .strictObject({
    type: text,
    title: text,
    status: z.int(),
    detail: text,
    errors: z.array(z.strictObject({ field: text, message: text })).optional(),
    success: z.literal(false),
    error: text,
  })
  .meta({ id: 'Problem', description: 'A refusal (RFC 9457).' });

export const healthAnswer = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });

export const readyAnswer = z
  .strictObject({
    status: z.enum(['ready', 'not ready']),
    queue: z.enum(['up', 'down']),
    reason: z.string().nullable().describe('Why the queue store cannot be used.'),
    workers: z.int(),
    problems: z.array(z.string()).describe('What is the matter with the shared directory, as workers say.'),
    waiting: z.int(),
    active: z.int(),
  })
  .meta({ id: 'Ready' });
