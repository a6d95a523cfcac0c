import { z } from 'zod';
import { codes } from '../reasons/codes.ts';
import { namedNodeSchema } from './batches.ts';
import { paramsSchema } from './endings/codes.ts';
import { stateSchema, stepSchema } from './endings/states.ts';
import { outcomeSchema } from './job.ts';
import { rulesOfRunSchema } from './rules-of-run.ts';
import { warningSchema } from './warning.ts';
import { int, int64, json, jsonObject, long, mockId, pageOf, text, time } from './wire.ts';

/** The members of an execution, as history keeps them and as the interface tells them. */
export const executionMembers = {
  mockId,
  app: int,
  ruleId: int64.nullable(),
  confId: int64.nullable(),
  ts: int64.nullable(),
  target: text,
  keyName: text.nullable().describe('The name of the API key that asked for it.'),
  address: text.nullable().describe('The client it went to.'),
  lane: text.nullable().describe('The lane of that client; null for one of the trunk, and until it has ended.'),
  state: stateSchema,
  history: z.array(stepSchema),
  warnings: z.array(warningSchema),
  ending: z
    .object({
      status: int,
      code: text.nullable().meta({ json: { type: ['string', 'null'], enum: [...codes, null] } }),
      reason: text.nullable().describe('Why there is no answer; null where there is one.'),
      params: paramsSchema,
      mayHaveRun: z.boolean(),
    })
    .nullable()
    .describe('The answer that its caller got, null until then.'),
  outcome: outcomeSchema
    .nullable()
    .describe(
      'The outcome of the rule, as its client tells it, else by the last entry of its trace; null when neither says.',
    ),
  error: text.nullable().describe("The first 300 characters of the client's error, or why there is no answer."),
  dryRun: z.boolean().describe('It had no effects.'),
  comparisonId: text.nullable().describe('The comparison that it is a part of, as its caller said.'),
  derivedFrom: text.nullable().describe('The execution that it repeats, as its caller said.'),
  rules: rulesOfRunSchema.nullable().describe('The rules it ran on; null when it was not sent to a client.'),
};

const ms = (part: string) => int.nullable().describe(part);
const timingsSchema = z
  .object({
    queued: ms('In the queue, until its client could see the request.'),
    pickUp: ms('Until the client took the request; null also when it answered too quickly to tell.'),
    running: ms('Until the client wrote its answer; since the dispatch where the pick-up was not seen.'),
    noticing: ms('Until the answer was noticed, read and reported.'),
    total: ms('From the call to the end.'),
  })
  .describe('Where the time went, in milliseconds: null for a part that has not ended or was not seen.');
export type Timings = z.output<typeof timingsSchema>;
const recordMembers = {
  ...executionMembers,
  timings: timingsSchema,
};

/** An execution without its texts, as the events of one begin with it. */
export const executionRecordSchema = z.object(recordMembers);

export const listedExecutionSchema = z
  .object({
    ...recordMembers,
    input: jsonObject
      .nullable()
      .optional()
      .describe('With `include`; null while it is on its way, and when it is larger than 4 KiB.'),
    decidedBy: namedNodeSchema
      .nullable()
      .optional()
      .describe(
        'With `include=details`: the node that decided; null where its trace does not say, its rules are not kept, or answers before it on the page are more than 1 MiB.',
      ),
  })
  .meta({ id: 'ListedExecution' });
export type ListedExecution = z.output<typeof listedExecutionSchema>;

const searched = z.object({
  executions: int,
  withoutInput: int.describe('Those of which no input is kept, or not whole.'),
  until: time.nullable().describe('When the last one that was searched ended, epoch milliseconds.'),
});
export type SearchProgress = z.output<typeof searched>;

export const executionListSchema = z
  .object({
    ...pageOf(listedExecutionSchema),
    searched: searched
      .optional()
      .describe('Of a search: how far it came. With a nextCursor it can go on, also where nothing was found yet.'),
  })
  .meta({ id: 'ExecutionList' });

const answer = { anyOf: [{ $ref: '#/components/schemas/Result' }, { $ref: '#/components/schemas/NoAnswer' }] };

export const executionSchema = z
  .object({
    ...recordMembers,
    input: jsonObject.nullable().describe('Null when it was larger than 64 KiB.'),
    result: jsonObject.meta({ json: answer }).nullable().describe('The answer that its caller got, null until then.'),
    lateResult: jsonObject.meta({ json: answer }).nullable().describe('An answer that came after it had timed out.'),
    written: text
      .nullable()
      .describe(
        'What the client wrote, where that is no result: at most 4,096 bytes. Null for an app of MASK or HISTORY_OFF.',
      ),
    masked: z
      .array(text)
      .describe('The fields that are hidden here (MASK), by their paths in the data; `*`: all of it (HISTORY_OFF).'),
    pinned: z.boolean().describe('It is kept until it is unpinned.'),
    keptUntil: time
      .nullable()
      .describe(
        'Epoch milliseconds; it leaves earlier when HISTORY_COUNT or HISTORY_BYTES is reached. Null if it is pinned or open.',
      ),
    tree: json
      .meta({ json: { $ref: '#/components/schemas/Tree' } })
      .nullable()
      .optional()
      .describe('With `include=tree`: of the rules it ran on, as they were then; null where it is not kept.'),
  })
  .meta({ id: 'Execution' });
export type Execution = z.output<typeof executionSchema>;

/** The event of each state that an execution reaches. */
export const stateEventSchema = stepSchema.extend({
  address: executionMembers.address,
  ending: executionMembers.ending,
});
export type StateEvent = z.output<typeof stateEventSchema>;

export const failuresSchema = z
  .object({
    ...pageOf(
      z
        .object({
          code: text.describe('Why there is no answer; `failed` where the client answered with a failure.'),
          reason: text.nullable().describe('Null where the client answered with a failure.'),
          params: paramsSchema.describe('Of the reason; what differs from one failure to the next is replaced.'),
          sentence: text.describe(
            "What they have in common: the reason's sentence, or the client's error with its ids, quoted values and numbers replaced.",
          ),
          count: int,
          first: time.describe('When the first of them ended, epoch milliseconds.'),
          last: time,
          mockId: mockId.describe('The newest of them.'),
          clients: z
            .array(z.object({ address: text.nullable(), count: int }))
            .describe('The ten with the most; null is for calls that went to none.'),
        })
        .meta({ id: 'FailureGroup' }),
    ),
    searched,
  })
  .meta({ id: 'Failures' });
export type Failures = z.output<typeof failuresSchema>['items'][number];

export const keptSchema = z
  .object({
    executions: int.nullable().describe('Null for a key that is for some apps only.'),
    bytes: long.nullable(),
    oldest: time.nullable().describe('When the one that leaves next ended, epoch milliseconds.'),
    limits: z.object({ executions: int, seconds: int, bytes: long }),
    waits: z
      .object({ worker: int, client: int })
      .describe(
        'How long an execution waits at the most: for a worker to begin it, then for its client to answer; ms.',
      ),
  })
  .meta({ id: 'Kept' });

export const acceptedSchema = z.object({ mockId, state: stateSchema }).meta({ id: 'Accepted' });

export const cancelledSchema = z
  .object({
    mockId,
    state: z.enum(['cancelling', 'cancelled', 'erased']),
    found: z.boolean().optional().describe('Of `erased`: whether there was anything to erase.'),
  })
  .meta({ id: 'Cancelled' });
