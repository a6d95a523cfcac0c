import { z } from 'zod';
import { codeSchema } from '../../shared/contract/endings/outcomes.ts';
import { stateSchema, stepSchema } from '../../shared/contract/endings/states.ts';
import { decisionSchema, warningSchema } from '../../shared/contract/job.ts';
import { int32, int64OrNull, mockId, rulesOfRun, text } from './answer-parts.ts';
import { treeAnswer } from './browse-answers.ts';
import { asJson } from './json-schema.ts';

const ms = z.int().nonnegative().nullable();
const timings = z
  .strictObject({ queued: ms, pickUp: ms, running: ms, noticing: ms, total: ms })
  .describe('Where the time went, in milliseconds: null for a part that has not ended or was not seen.');

const recordMembers = {
  mockId,
  app: int32,
  ruleId: int64OrNull,
  confId: int64OrNull,
  ts: int64OrNull,
  target: text,
  keyName: text.nullable().describe('The name of the API key that asked for it.'),
  address: text.nullable().describe('The client it went to.'),
  lane: text.nullable().describe('The lane of that client; null for one of the trunk, and until it has ended.'),
  state: stateSchema,
  history: z.array(stepSchema.strict()),
  timings,
  warnings: z.array(warningSchema.strict()),
  outcome: z
    .strictObject({ status: z.int(), code: codeSchema.nullable(), mayHaveRun: z.boolean() })
    .nullable()
    .describe('The answer that its caller got, null until then.'),
  decision: decisionSchema
    .nullable()
    .describe('The outcome of the rule, by the last entry of its trace; null when that does not say.'),
  error: text
    .nullable()
    .describe("The beginning of the client's error, or why there is no answer; at most 300 characters."),
  dryRun: z.boolean().describe('It had no effects.'),
  comparisonId: text.nullable().describe('The comparison that it is a part of, as its caller said.'),
  derivedFrom: text.nullable().describe('The execution that it repeats, as its caller said.'),
  rules: rulesOfRun,
};

export const executionAnswer = z
  .strictObject({
    ...recordMembers,
    input: asJson({ type: ['object', 'null'] }).describe('Null when it was larger than 64 KiB.'),
    result: asJson({ type: ['object', 'null'] }).describe('The answer that its caller got, null until then.'),
    lateResult: asJson({ type: ['object', 'null'] }).describe('An answer that came after it had timed out.'),
    written: text
      .nullable()
      .describe(
        'What the client wrote, where that is no result: at most 4,096 bytes. Null for an app of MASK or HISTORY_OFF.',
      ),
    masked: z
      .array(text)
      .describe('The fields that are hidden here (MASK), by their paths in the data; `*`: all of it (HISTORY_OFF).'),
    pinned: z.boolean().describe('It is kept until it is unpinned.'),
    keptUntil: z
      .int()
      .nullable()
      .describe(
        'Epoch ms; it leaves earlier when HISTORY_COUNT or HISTORY_BYTES is reached. Null if it is pinned or open.',
      ),
    tree: treeAnswer
      .nullable()
      .optional()
      .describe('With `include=tree`: of the rules it ran on, as they were then; null where it is not kept.'),
  })
  .meta({ id: 'Execution' });

const looked = z.strictObject({
  executions: z.int(),
  withoutInput: z.int().describe('Those of which no input is kept, or not whole.'),
  until: z.int().nullable().describe('When the last one that was looked at ended, epoch ms.'),
});

export const failuresAnswer = z
  .strictObject({
    groups: z.array(
      z.strictObject({
        code: text.describe('Why there is no answer; `failed` where the client answered with a failure.'),
        sentence: text.describe('The error, with the client, ids, quoted values and numbers replaced.'),
        count: z.int(),
        first: z.int().describe('When the first of them ended, epoch ms.'),
        last: z.int(),
        mockId,
        clients: z
          .array(z.strictObject({ address: text.nullable(), count: z.int() }))
          .describe('The ten with the most.'),
      }),
    ),
    looked,
    nextCursor: text.nullable(),
  })
  .meta({ id: 'Failures' });

export const executionListAnswer = z
  .strictObject({
    items: z.array(
      z
        .strictObject({
          ...recordMembers,
          input: asJson({ type: ['object', 'null'] })
            .optional()
            .describe('With `include=input`; null while it is on its way, and when it is larger than 4 KiB.'),
        })
        .meta({ id: 'ListedExecution' }),
    ),
    nextCursor: text.nullable(),
    looked: looked
      .optional()
      .describe('Of a search: how far it came. With a nextCursor it can go on, also where nothing was found yet.'),
  })
  .meta({ id: 'ExecutionList' });

export const keptAnswer = z
  .strictObject({
    executions: z.int().nullable().describe('Null for a key that is for some apps only.'),
    bytes: z.int().nullable(),
    oldest: z.int().nullable().describe('When the one that leaves next ended, epoch ms.'),
    limits: z.strictObject({ executions: z.int(), seconds: z.int(), bytes: z.int() }),
    waits: z
      .strictObject({ worker: z.int(), client: z.int() })
      .describe(
        'How long an execution waits at the most: for a worker to begin it, then for its client to answer; ms.',
      ),
  })
  .meta({ id: 'Kept' });

export const cancelAnswer = z
  .strictObject({
    mockId,
    state: z.enum(['cancelling', 'cancelled', 'erased']),
    found: z.boolean().optional().describe('Of `erased`: whether there was anything to erase.'),
  })
  .meta({ id: 'Cancelled' });
