import { z } from 'zod';
import { paramsSchema } from './endings/codes.ts';
import { refusalCodeSchema } from './endings/no-answer.ts';
import { knownUpTo, onceSchema } from './job.ts';

/** The version of a question to workers and of its answer.  */
export const QUERY_VERSION = 1;
const v = knownUpTo(QUERY_VERSION);

const id = z
  .string()
  .regex(/^\d{1,19}$/)
  .nullable();
const selection = {
  app: z.int().positive(),
  ruleId: id,
  confId: id,
  lane: z.string().nullable(),
  address: z.string().nullable(),
};

const casesOf = { app: z.int().positive(), ruleId: id, confId: id };

/** A question about clients, rules and saved cases, or that an execution be fenced or its files be erased, which only a worker can answer. Ids are decimal text: int64 stays exact. */
export const querySchema = z.discriminatedUnion('ask', [
  z.object({ v, ask: z.literal('schema'), ...selection }),
  z.object({ v, ask: z.literal('tree'), ...selection }),
  // The rule on a version and on those before it.
  z.object({ v, ask: z.literal('versions'), ...selection, version: id.unwrap() }),
  z.object({ v, ask: z.literal('apps') }),
  z.object({ v, ask: z.literal('rules'), app: z.int().positive() }),
  z.object({ v, ask: z.literal('clients'), app: z.int().positive() }),
  z.object({ v, ask: z.literal('saved-cases'), ...casesOf }),
  z.object({ v, ask: z.literal('list-saved-cases'), app: z.int().positive() }),
  // `expected`: the ETag of what may be replaced, null when there may be none. `text`: null to remove it.
  z.object({
    v,
    ask: z.literal('save-cases'),
    ...casesOf,
    expected: z.string().nullable(),
    text: z.string().nullable(),
  }),
  // `hasEnded`: the API has a record of its end. Otherwise its claim tells whether it may be open.
  z.object({ v, ask: z.literal('erase'), mockId: z.string().regex(/^[0-9a-f-]{36}$/), hasEnded: z.boolean() }),
  z.object({
    v,
    ask: z.literal('fence'),
    mockId: z.string().regex(/^[0-9a-f-]{36}$/),
    claimBy: z.int(),
    once: onceSchema.optional(),
  }),
]);
/** What became of the question to erase files. `open`: nothing was removed, because the execution may go on. */
export const eraseAnswerSchema = z.object({ files: z.enum(['erased', 'open']) });
export type EraseAnswer = z.infer<typeof eraseAnswerSchema>;
export type Query = z.infer<typeof querySchema>;
export type Selection = Omit<Extract<Query, { ask: 'schema' }>, 'ask'>;

/** An answer as JSON text, in place when small or where it was put; or why there is none. */
export const queryResultSchema = z.object({
  v,
  body: z.string().optional(),
  stored: z.string().optional(),
  refused: z.object({ code: refusalCodeSchema.catch('answer-of-newer-version'), params: paramsSchema }).optional(),
});
export type QueryResult = z.infer<typeof queryResultSchema>;
