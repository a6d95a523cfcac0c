import { z } from 'zod';
import { dialectNames } from '../../shared/contract/client-kinds.ts';
import { DATA_FIELD, decisionSchema, warningSchema } from '../../shared/contract/job.ts';
import { codeSchema } from '../../shared/contract/outcomes.ts';
import { stateSchema, stepSchema } from '../../shared/contract/states.ts';
import { asJson } from './json-schema.ts';

const text = z.string();
const int32 = asJson({ type: 'integer', format: 'int32' });
const int64 = asJson({ type: 'integer', format: 'int64' });
const int64OrNull = asJson({ type: ['integer', 'null'], format: 'int64' });
const epochMs = int64.describe('Epoch milliseconds.');
const ms = z.int().nonnegative().nullable();
const anyObject = asJson({ type: 'object', additionalProperties: true });
const mockId = asJson({ type: 'string', format: 'uuid' }).describe('The id of the execution.');
const number = asJson({ type: 'number' });

/** What a client answered: its own words, and at least these six members. */
export const resultAnswer = z
  .looseObject({
    mockId,
    success: z.boolean(),
    [DATA_FIELD]: anyObject.describe('The data after the rule ran.'),
    process: asJson({}).describe("The client's trace of the rule, null when it wrote none."),
    error: asJson({}).describe('What went wrong in the rule, null when nothing did.'),
    executeAt: number.describe('When the client ran it, epoch milliseconds.'),
  })
  .meta({ id: 'Result', description: 'What the client wrote, every number as it wrote it.' });

/** Why there is no client's answer, in the shape of one. */
export const noAnswerAnswer = z
  .strictObject({
    mockId,
    success: z.literal(false),
    [DATA_FIELD]: anyObject,
    process: z.null(),
    error: text.describe('One sentence: who, what happened, what to do.'),
    executeAt: epochMs.describe('When the execution ended, epoch milliseconds.'),
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

export const acceptedAnswer = z.strictObject({ mockId, state: stateSchema }).meta({ id: 'Accepted' });

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
  state: stateSchema,
  history: z.array(stepSchema.strict()),
  timings,
  warnings: z.array(warningSchema.strict()),
  outcome: z
    .strictObject({ status: z.int(), code: codeSchema.nullable(), mayHaveRun: z.boolean() })
    .nullable()
    .describe('What its caller was answered, null until then.'),
  decision: decisionSchema
    .nullable()
    .describe('What the rule came to, by the last entry of its trace; null when that does not say.'),
};

export const executionAnswer = z
  .strictObject({
    ...recordMembers,
    input: asJson({ type: ['object', 'null'] }).describe('Null when it was larger than 64 KiB.'),
    result: asJson({ type: ['object', 'null'] }).describe('What its caller was answered, null until then.'),
    lateResult: asJson({ type: ['object', 'null'] }).describe('An answer that came after it had timed out.'),
  })
  .meta({ id: 'Execution' });

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
  })
  .meta({ id: 'ExecutionList' });

export const cancelAnswer = z
  .strictObject({ mockId, state: z.enum(['cancelling', 'cancelled', 'erased']) })
  .meta({ id: 'Cancelled' });

const valueType = z.enum(['String', 'Integer', 'Long', 'Double', 'Boolean', 'List', 'Map', 'Object']);

const setting = z
  .strictObject({
    field: text,
    name: text.nullable(),
    type: text.nullable(),
    value: asJson({}).describe('As the rule configures it, else the default that the client published.'),
    configured: z.boolean(),
  })
  .meta({ id: 'LeafSetting', description: 'One setting of a leaf: a field of its class and the value it works with.' });

const comparison = z
  .strictObject({
    key: text,
    is: z.enum(['>=', '>', '<=', '<', '=', '!=', 'in', 'not-in']),
    field: text.describe('The setting that the value of the key is compared with.'),
  })
  .nullable()
  .describe('How the condition decides, null unless its client declares it.');

export const schemaAnswer = z
  .strictObject({
    fields: z.array(
      z.strictObject({
        key: text,
        valueType,
        nodeId: int64,
        nodeName: text,
        settings: z.array(setting).describe('Of that node.'),
        comparison,
      }),
    ),
    fallback: z.boolean().describe("The wanted client is not online, and another one's metadata answered."),
  })
  .meta({ id: 'Schema' });

const timeWindow = z.strictObject({
  type: z.enum(['always', 'after', 'before', 'between']),
  start: int64OrNull,
  end: int64OrNull,
});

export const appsAnswer = z
  .strictObject({ apps: z.array(z.strictObject({ app: int32, name: text.nullable() })) })
  .meta({ id: 'Apps' });

const ruleMembers = {
  name: text.nullable(),
  confId: int64OrNull,
  status: int64OrNull,
  scenes: z.array(text),
  timeWindow,
  updateAt: int64OrNull,
  folder: text,
};
const skipped = z.array(z.strictObject({ file: text, reason: text })).describe('Files that were passed over.');

export const rulesAnswer = z
  .strictObject({
    app: int32,
    version: int64OrNull,
    rules: z.array(z.strictObject({ ruleId: int64, ...ruleMembers })),
    skipped,
  })
  .meta({ id: 'Rules' });

export const clientsAnswer = z
  .strictObject({
    app: int32,
    clients: z.array(
      z.strictObject({
        address: text,
        lane: text.nullable(),
        registered: z.boolean(),
        state: z.enum(['online', 'offline', 'busy']),
        dialect: z.enum(dialectNames),
        sdk: text,
        lastHeartbeat: int64OrNull,
        heartbeatAgeMs: int64OrNull,
        loadedVersion: asJson({ type: ['number', 'null'] }),
        open: z.int().describe('Executions open at this client.'),
      }),
    ),
    skipped,
  })
  .meta({ id: 'Clients' });

const nodeKey = z.strictObject({
  key: text,
  direction: z.enum(['read', 'write', 'read_write']),
  accessMethod: text.nullable(),
  dynamic: z.boolean(),
  nested: z.boolean(),
  valueType,
});

const treeNode = z
  .strictObject({
    id: int64,
    state: z.enum(['released', 'missing', 'unusable']),
    type: text,
    label: text.nullable(),
    className: text.nullable(),
    shortName: text.nullable(),
    inverse: z.boolean(),
    errorState: int64OrNull,
    timeWindow,
    values: anyObject,
    settings: z.array(setting).describe('Of a leaf: what its fields hold, configured or by default.'),
    comparison,
    keys: z.array(nodeKey),
    problems: z.array(text),
    circular: z.boolean(),
    get forward(): z.ZodNullable<z.ZodType> {
      return treeNode.nullable();
    },
    get children(): z.ZodArray<z.ZodType> {
      return z.array(treeNode);
    },
  })
  .meta({ id: 'TreeNode' });

export const treeAnswer = z
  .strictObject({
    rule: z.strictObject({ id: int64, ...ruleMembers }).nullable(),
    version: int64OrNull,
    root: treeNode.nullable(),
    keys: z.array(
      z.strictObject({
        key: text,
        valueType,
        dynamic: z.boolean(),
        nested: z.boolean(),
        readers: z.array(int64),
        writers: z.array(int64),
      }),
    ),
    shared: z.array(int64).describe('Nodes that stand in more than one place.'),
    missing: z.array(int64).describe('Nodes that are not released.'),
    cycle: z.array(int64).nullable().describe('Nodes along a circle.'),
    fallback: z.boolean(),
  })
  .meta({ id: 'Tree' });

export const healthAnswer = z.strictObject({ status: z.literal('ok') }).meta({ id: 'Health' });

export const readyAnswer = z
  .strictObject({
    status: z.enum(['ready', 'not ready']),
    queue: z.enum(['up', 'down']),
    reason: z.string().nullable().describe('Why the queue store cannot be used.'),
    workers: z.int(),
    waiting: z.int(),
    active: z.int(),
  })
  .meta({ id: 'Ready' });
