import { readinessSchema } from '../../shared/contract/readiness.ts';
import {
  appsSchema,
  clientListSchema,
  ruleListSchema,
  ruleVersionsSchema,
  schemaSchema,
  treeSchema,
} from '../../shared/contract/rules-and-clients.ts';
import {
  appParameters,
  readinessParameters,
  schemaParameters,
  selectionParameters,
  versionsParameters,
} from '../http/parameters.ts';
import { answer, type Operation } from './operation.ts';
import { refusal } from './refusals.ts';

const always = { type: 'always', start: null, end: null };
const rule = {
  name: 'Recharge campaign',
  confId: 2,
  status: 1,
  scenes: ['recharge'],
  timeWindow: always,
  updateAt: 1_790_000_000_000,
  problems: [],
  folder: '',
};
const node = {
  id: 41,
  state: 'released',
  type: 'LeafFlow',
  label: 'cost at least 100',
  className: 'com.sample.AmountFlow',
  shortName: 'AmountFlow',
  inverse: false,
  errorState: null,
  timeWindow: always,
  values: { min: 100 },
  settings: [{ field: 'min', name: 'Amount', type: 'double', value: 100, configured: true }],
  comparison: { key: 'cost', is: '>=', field: 'min' },
  keys: [{ key: 'cost', direction: 'read', accessMethod: null, dynamic: false, nested: false, valueType: 'Double' }],
  problems: [],
};
const leaf = { ...node, circular: false, forward: null, children: [] };
const digest = 'Qm9xX2Vzc2VudGlhbGx5MT';
const tree = {
  rule: { id: 1, ...rule },
  version: 18,
  root: {
    ...leaf,
    id: 2,
    type: 'And',
    label: null,
    className: null,
    shortName: null,
    values: {},
    settings: [],
    comparison: null,
    keys: [],
    children: [leaf],
  },
  keys: [{ key: 'cost', valueType: 'Double', dynamic: false, nested: false, readers: [41], writers: [] }],
  shared: [],
  missing: [],
  cycle: null,
  fallback: false,
  digest,
};
const client = {
  address: 'orders-7f9c_4a1b2',
  lane: null,
  registered: true,
  state: 'online',
  dialect: 'rule',
  sdk: 'node',
  dryRun: true,
  lastHeartbeat: 1_790_000_000_000,
  heartbeatAgeMs: 1200,
  loadedVersion: 18,
  open: 0,
  lastPickUpAt: 1_790_000_000_000,
  noPickUpSince: null,
};

const readiness = {
  app: 9001,
  target: 'lane:beta',
  state: 'not-tested',
  rules: [
    {
      ruleId: 1,
      name: 'Recharge campaign',
      digest: 'Qm9xX2Vzc2VudGlhbGx5MT',
      state: 'not-tested',
      batchId: null,
      findings: [{ code: 'no-cases', message: 'The rule has no saved cases that run.', nodeId: null, parameters: {} }],
    },
  ],
};
const unknownRule = refusal('The app has no such rule or node.', 'unknown-rule', { app: 9001, ruleId: '77' });
const path = (name: string) => `/rule-server/mock/${name}`;
const common = { method: 'get', tag: 'Rules and clients', needs: 'read' } as const;

/** The operations that list rules and clients. A worker answers: the API never looks at the shared directory. */
export const browseOperations: Operation[] = [
  {
    ...common,
    path: path('schema'),
    id: 'getSchema',
    summary: "The input keys that a rule's leaf nodes read, in tree order, each once",
    query: schemaParameters,
    queryExample: { app: 9001, ruleId: 1, include: 'settings' },
    answers: {
      200: answer('The keys. None for an app without readable rules or metadata.', schemaSchema, {
        keys: {
          fields: [
            {
              key: 'cost',
              valueType: 'Double',
              nodeId: 41,
              nodeName: 'cost at least 100',
              nodes: [
                {
                  ...{ nodeId: 41, nodeName: 'cost at least 100' },
                  ...{ settings: leaf.settings, comparison: leaf.comparison },
                },
              ],
            },
          ],
          fallback: false,
        },
      }),
      404: unknownRule,
    },
  },
  {
    ...common,
    path: path('tree'),
    id: 'getTree',
    summary: 'The released tree of a rule, a node, or a node inside a rule',
    query: selectionParameters,
    queryExample: { app: 9001, ruleId: 1 },
    answers: {
      200: answer('The tree.', treeSchema, { tree }),
      404: unknownRule,
      422: refusal('It is too large.', 'tree-too-large', {}),
    },
  },
  {
    ...common,
    path: path('versions'),
    id: 'listVersions',
    summary: 'A rule as a version and those before it had it, by the update files of the app',
    query: versionsParameters,
    queryExample: { app: 9001, ruleId: 1, version: 18 },
    answers: {
      200: answer(
        'The versions, the newest first. Of each but the first only what changed. The list ends before the first that is not known.',
        ruleVersionsSchema,
        {
          versions: {
            items: [
              { version: 18, digest, timeWindow: always, start: 41, nodes: [{ ...node, forwardId: null, sonIds: [] }] },
              { version: 17, digest, timeWindow: always, start: 41, nodes: [] },
            ],
            nextCursor: null,
          },
        },
      ),
      404: refusal('The rule is not known on this version.', 'unknown-version', { app: 9001, version: '18' }),
    },
  },
  {
    ...common,
    path: path('apps'),
    id: 'listApps',
    summary: 'Apps that have rules, clients, or a directory',
    answers: {
      200: answer('The apps.', appsSchema, { apps: { items: [{ app: 9001, name: 'Demo' }], nextCursor: null } }),
    },
  },
  {
    ...common,
    path: path('rules'),
    id: 'listRules',
    summary: 'The rules of an app',
    query: appParameters,
    queryExample: { app: 9001 },
    answers: {
      200: answer('The rules, and the files that are none.', ruleListSchema, {
        rules: { app: 9001, version: 18, items: [{ ruleId: 1, ...rule }], nextCursor: null, skipped: [] },
      }),
    },
  },
  {
    ...common,
    path: path('clients'),
    id: 'listClients',
    summary: 'The clients of an app, and whether they are there',
    query: appParameters,
    queryExample: { app: 9001 },
    answers: {
      200: answer('The clients.', clientListSchema, {
        clients: { app: 9001, items: [client], nextCursor: null, skipped: [] },
      }),
      422: refusal("The app's directory is not one.", 'clients-linked', { app: 9001 }),
    },
  },
  {
    ...common,
    path: path('readiness'),
    id: 'getReadiness',
    summary: 'Whether the rules of an app can be released to a target',
    description:
      'A rule can ship when its saved cases passed in their last batch on this target, on the rules that are released now, and nothing in its tree stops it. Nothing runs: what was not tested is said to be so.',
    query: readinessParameters,
    queryExample: { app: 9001, target: 'lane:beta' },
    answers: {
      200: answer('Each rule, and what a person must know of it.', readinessSchema, { readiness }),
      404: unknownRule,
      422: refusal('The app has too many rules for one answer.', 'too-many-rules', {
        ...{ app: 9001, rules: 612, most: 500 },
      }),
    },
  },
];
