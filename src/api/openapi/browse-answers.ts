import { z } from 'zod';
import { dialectNames } from '../../shared/contract/client-kinds.ts';
import { type FindingCode, findingCodes, readinessStates } from '../../shared/reasoning/readiness.ts';
import { anyObject, int32, int64, int64OrNull, text } from './answer-parts.ts';
import { asJson } from './json-schema.ts';

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
    missing: z
      .union([z.boolean(), text, z.number()])
      .optional()
      .describe(
        'What it comes to without a value: this, or what this setting has, or what it comes to with this number. Absent where its client does not declare it.',
      ),
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
        settings: z.array(setting).optional().describe('Of that node; with `include=settings`.'),
        comparison: comparison.optional(),
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
  problems: z.array(text),
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
        dryRun: z.boolean().describe('It can run without effects.'),
        lastHeartbeat: int64OrNull,
        heartbeatAgeMs: int64OrNull,
        loadedVersion: asJson({ type: ['number', 'null'] }),
        open: z.int().describe('Executions open at this client.'),
        lastPickUpAt: int64OrNull.describe('When it picked up a request the last time; null when that is not known.'),
        noPickUpSince: int64OrNull.describe(
          'Since when it has let requests lie, although it is online: it is asked last until it picks one up. Null when it does not.',
        ),
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
    missingClasses: z
      .array(text)
      .nullable()
      .optional()
      .describe('Leaf classes that a client which is asked about does not have; null where none says which it has.'),
    digest: text.nullable().describe('Changes whenever the rule or one of its nodes does.'),
    edited: treeNode
      .nullable()
      .optional()
      .describe('The root with the edits of the rule that are not released yet; null where there are none.'),
  })
  .meta({ id: 'Tree' });

export const readinessAnswer = z
  .strictObject({
    app: z.int(),
    target: text,
    state: z.enum(readinessStates).describe('Of all rules together.'),
    rules: z.array(
      z.strictObject({
        ruleId: int64,
        name: text.nullable(),
        digest: text.nullable().describe('Of the rules that are released now.'),
        state: z
          .enum(readinessStates)
          .describe('`can-ship`: its saved cases passed on this target and on these rules, and nothing stops it.'),
        batchId: text.nullable().describe('The last batch of its saved cases on this target.'),
        findings: z.array(
          z.strictObject({
            code: z.enum(Object.keys(findingCodes) as [FindingCode, ...FindingCode[]]),
            message: text,
            nodeId: int64.nullable(),
            parameters: z.record(text, text).describe('What stands in the sentence, for a page in another language.'),
          }),
        ),
      }),
    ),
  })
  .meta({ id: 'Readiness' });
