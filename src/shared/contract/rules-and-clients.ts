import { z } from 'zod';
import { causeOf, type Fault } from '../reasons/causes.ts';
import { asReason } from '../reasons/template.ts';
import { dialectNames } from './client-kinds.ts';
import { decoders } from './decoders.ts';
import { paramsSchema } from './endings/codes.ts';
import { RawNumber } from './json/raw-number.ts';
import { int, int64, json, jsonObject, pageOf, text, time } from './wire.ts';

/** The types that a key's value may have. */
export const VALUE_TYPES = ['String', 'Integer', 'Long', 'Double', 'Boolean', 'List', 'Map', 'Object'] as const;
const valueType = text.meta({ json: { type: 'string', enum: VALUE_TYPES } });

const settingSchema = z
  .object({
    field: text,
    name: text.nullable(),
    type: text.nullable().optional().describe('As its class publishes it.'),
    value: json.describe('As the rule configures it, else the default that the client published.'),
    configured: z.boolean(),
  })
  .meta({ id: 'LeafSetting', description: 'One setting of a leaf: a field of its class and the value it works with.' });
/** One setting of a leaf, its value as JSON text. */
export type Setting = z.output<typeof settingSchema>;

export const comparisons = ['>=', '>', '<=', '<', '=', '!=', 'in', 'not-in'] as const;
const missingSchema = z
  .codec(
    z.union([z.boolean(), text, z.instanceof(RawNumber)]),
    z.union([z.boolean(), z.object({ setting: text }), z.object({ number: text })]),
    {
      decode: decoders.missing,
      encode: (missing) => {
        if (typeof missing === 'boolean') return missing;
        return 'setting' in missing ? missing.setting : new RawNumber(missing.number);
      },
    },
  )
  .meta({ json: { oneOf: [{ type: 'boolean' }, { type: 'string' }, { type: 'number' }] } });
const comparisonSchema = z
  .object({
    key: text,
    is: z.enum(comparisons),
    field: text.describe('The setting that the value of the key is compared with.'),
    missing: missingSchema
      .nullable()
      .optional()
      .describe(
        'What it comes to without a value: this, or what this setting has, or what it comes to with this number. Absent where its client does not declare it.',
      ),
  })
  .meta({ id: 'Comparison' });
/**
 * How a condition decides: TRUE when the value of the key is in this relation to the setting. `missing`: what it comes to without a value; the
 * number is text.
 */
export type Comparison = z.output<typeof comparisonSchema>;
const comparison = comparisonSchema
  .nullable()
  .describe('How the condition decides, null unless its client declares it.');

const fieldSchema = z.object({ key: text, valueType, nodeId: int64, nodeName: text }).meta({ id: 'SchemaField' });
export type SchemaField = z.output<typeof fieldSchema>;

/** The inputs that a rule reads. */
export const schemaSchema = z
  .object({
    fields: z.array(
      fieldSchema.extend({
        nodes: z
          .array(z.object({ nodeId: int64, nodeName: text, settings: z.array(settingSchema), comparison }))
          .optional()
          .describe('All nodes that read it, in the order of the tree; with `include=settings`.'),
      }),
    ),
    incomplete: z
      .array(int64)
      .optional()
      .describe('Nodes whose code may read more keys than these; absent where there are none.'),
    fallback: z.boolean().describe("The wanted client is not online, and another one's metadata answered."),
  })
  .meta({ id: 'InputSchema' });
export type Schema = z.output<typeof schemaSchema>;

const windowSchema = z
  .object({
    type: z.enum(['always', 'after', 'before', 'between']),
    start: int64.nullable(),
    end: int64.nullable(),
  })
  .meta({ id: 'TimeWindow', description: 'Both ends inclusive, epoch milliseconds.' });
/** Both ends inclusive, epoch ms as text. */
export type TimeWindow = z.output<typeof windowSchema>;

export const appsSchema = z.object(pageOf(z.object({ app: int, name: text.nullable() }))).meta({ id: 'Apps' });

const faultMembers = { reason: text, params: paramsSchema, message: text };
const faultSchema = z.object(faultMembers).meta({ id: 'Fault', description: 'What is wrong with a file.' });
export type FaultBody = z.output<typeof faultSchema>;
/** A fault as it is sent. */
export const faultBody = (fault: Fault): FaultBody => asReason(fault, causeOf(fault));
export const skippedBody = ({ file, fault }: { file: string; fault: Fault }) => ({ file, ...faultBody(fault) });

const ruleMembers = {
  name: text.nullable(),
  confId: int64.nullable(),
  status: int64.nullable(),
  scenes: z.array(text),
  timeWindow: windowSchema,
  updateAt: int64.nullable(),
  problems: z.array(faultSchema),
  folder: text,
};
const skipped = z.array(z.object({ file: text, ...faultMembers })).describe('Files that were passed over.');

export const ruleListSchema = z
  .object({
    app: int,
    version: int64.nullable(),
    ...pageOf(z.object({ ruleId: int64, ...ruleMembers }).meta({ id: 'Rule' })),
    skipped,
  })
  .meta({ id: 'Rules' });
export type RuleSummary = z.output<typeof ruleListSchema>['items'][number];

const clientSchema = z
  .object({
    address: text,
    lane: text.nullable(),
    registered: z.boolean(),
    state: z
      .enum(['online', 'offline', 'busy'])
      .describe('One that is busy can be run on, even when its heartbeat stands still meanwhile.'),
    dialect: z.enum(dialectNames),
    sdk: text,
    dryRun: z.boolean().describe('It can run without effects.'),
    lastHeartbeat: time.nullable(),
    heartbeatAgeMs: time.nullable().describe("How old its last sign of life is, by the service's clock."),
    loadedVersion: int64.nullable(),
    open: int.describe('Executions open at this client.'),
    lastPickUpAt: time.nullable().describe('When it picked up a request the last time; null when that is not known.'),
    noPickUpSince: time
      .nullable()
      .describe(
        'Since when it has let requests lie, although it is online: it is asked last until it picks one up. Null when it does not.',
      ),
  })
  .meta({ id: 'Client' });
export type Client = z.output<typeof clientSchema>;

export const clientListSchema = z.object({ app: int, ...pageOf(clientSchema), skipped }).meta({ id: 'Clients' });

const nodeKeySchema = z.object({
  key: text,
  direction: z.enum(['read', 'write', 'read_write']),
  accessMethod: text.nullable().optional(),
  dynamic: z.boolean(),
  nested: z.boolean(),
  valueType,
});
export type NodeKey = z.output<typeof nodeKeySchema>;

const nodeSchema = z.object({
  id: int64,
  state: z.enum(['released', 'missing', 'unusable']),
  type: text,
  label: text.nullable(),
  className: text.nullable(),
  shortName: text.nullable(),
  inverse: z.boolean(),
  errorState: int64.nullable(),
  timeWindow: windowSchema,
  values: jsonObject,
  settings: z.array(settingSchema).describe('Of a leaf: what its fields hold, configured or by default.'),
  comparison,
  keys: z.array(nodeKeySchema),
  problems: z.array(faultSchema),
});

export type NodeOfTree = z.output<typeof nodeSchema>;
/** A node of a rule's tree as the API draws it: shared nodes stand at each of their places. `values` and those of `settings` are JSON text. */
export type TreeNode = NodeOfTree & {
  circular: boolean;
  forward: TreeNode | null;
  children: TreeNode[];
};

const treeNodeSchema: z.ZodType<TreeNode> = nodeSchema
  .extend({
    circular: z.boolean(),
    get forward() {
      return treeNodeSchema.nullable();
    },
    get children() {
      return z.array(treeNodeSchema);
    },
  })
  .meta({ id: 'TreeNode' });

const keyUseSchema = z
  .object({
    key: text,
    valueType,
    dynamic: z.boolean(),
    nested: z.boolean(),
    readers: z.array(int64),
    writers: z.array(int64),
  })
  .meta({ id: 'KeyUse' });
export type KeyUse = z.output<typeof keyUseSchema>;

export const treeSchema = z
  .object({
    rule: z.object({ id: int64, ...ruleMembers }).nullable(),
    version: int64.nullable(),
    root: treeNodeSchema.nullable(),
    keys: z.array(keyUseSchema),
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
    edited: treeNodeSchema
      .nullable()
      .optional()
      .describe('The root with the edits of the rule that are not released yet; null where there are none.'),
  })
  .meta({ id: 'Tree' });
export type Tree = z.output<typeof treeSchema>;

/** A rule as its versions had it, the newest first. */
export const ruleVersionsSchema = z
  .object(
    pageOf(
      z
        .object({
          version: int64,
          digest: text.nullable().describe('Changes whenever the rule or one of its nodes does.'),
          timeWindow: windowSchema.nullable().describe('Of the rule itself.'),
          start: int64.nullable().describe('The node that it begins with.'),
          nodes: z
            .array(nodeSchema.extend({ forwardId: int64.nullable(), sonIds: z.array(int64) }))
            .describe('Those that no version before it in the list has, or that the last of these has otherwise.'),
        })
        .meta({ id: 'RuleVersion' }),
    ),
  )
  .meta({ id: 'RuleVersions' });
export type RuleVersions = z.output<typeof ruleVersionsSchema>;
