import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { digits, field, flag, list, number, text } from '../../shared/contract/json/read-exact.ts';
import { readNode, readWindow } from '../../shared/reasoning/read-node.ts';
import type { TimeWindow, TreeNode } from '../../shared/reasoning/tree.ts';
import { get, withQuery } from './request.ts';

const BASE = '/rule-server/mock';

export type RuleSummary = {
  ruleId: string;
  name: string | null;
  confId: string | null;
  status: string | null;
  timeWindow: TimeWindow;
  folder: string;
};
type RuleList = { version: string | null; rules: RuleSummary[]; skipped: { file: string; reason: string }[] };

export type Client = {
  address: string;
  lane: string | null;
  registered: boolean;
  /** Can be run on; one that is busy is, even when its heartbeat stands still meanwhile. */
  online: boolean;
  busy: boolean;
  sdk: string;
  /** It can run without effects. */
  dryRun: boolean;
  /** How old its last sign of life is, by the service's clock. */
  heartbeatAgeMs: number | null;
  loadedVersion: string | null;
  /** How many runs are open at it. */
  open: number;
  /** When it picked up a request the last time, and since when it has let requests lie, epoch ms. */
  lastPickUpAt: number | null;
  noPickUpSince: number | null;
};

export type SchemaField = { key: string; valueType: string; nodeId: string; nodeName: string };
export type Schema = { fields: SchemaField[]; fallback: boolean };

export type KeyUse = {
  key: string;
  valueType: string;
  dynamic: boolean;
  nested: boolean;
  readers: string[];
  writers: string[];
};
export type Tree = {
  rule: { ruleId: string; name: string | null; timeWindow: TimeWindow; problems: string[] } | null;
  version: string | null;
  root: TreeNode | null;
  keys: KeyUse[];
  missing: string[];
  cycle: string[] | null;
  fallback: boolean;
  /** Changes whenever the rule or one of its nodes does. */
  digest: string | null;
  /** The root with edits that are not released yet. */
  edited: TreeNode | null;
};

/** The query of a schema or a tree. */
export type Selection = {
  app: string;
  ruleId: string | null;
  confId: string | null;
  lane: string | null;
  address: string | null;
};

export type App = { app: string; name: string | null };

export function getApps(signal?: AbortSignal): Promise<App[]> {
  const read = (answer: ExactValue) =>
    list(field(answer, 'apps')).flatMap((entry) => {
      const app = digits(field(entry, 'app'));
      return app === null ? [] : [{ app, name: text(field(entry, 'name')) }];
    });
  return get(`${BASE}/apps`, read, signal);
}

export function getRules(app: string, signal?: AbortSignal): Promise<RuleList> {
  return get(withQuery(`${BASE}/rules`, { app }), readRules, signal);
}

export function getClients(app: string, signal?: AbortSignal): Promise<Client[]> {
  return get(withQuery(`${BASE}/clients`, { app }), (answer) => list(field(answer, 'clients')).map(readClient), signal);
}

export function getSchema(selection: Selection, signal?: AbortSignal): Promise<Schema> {
  return get(withQuery(`${BASE}/schema`, selection), readSchema, signal);
}

export function getTree(selection: Selection, signal?: AbortSignal): Promise<Tree> {
  return get(withQuery(`${BASE}/tree`, selection), readTree, signal);
}

/** The tree that an execution ran on; null when it is not kept. */
export function getTreeOfRun(mockId: string, signal?: AbortSignal): Promise<Tree | null> {
  const read = (answer: ExactValue) => {
    const tree = field(answer, 'tree');
    return tree ? readTree(tree) : null;
  };
  return get(withQuery(`${BASE}/executions/${encodeURIComponent(mockId)}`, { include: 'tree' }), read, signal);
}

function readRules(answer: ExactValue): RuleList {
  return {
    version: digits(field(answer, 'version')),
    rules: list(field(answer, 'rules')).map((rule) => ({
      ruleId: digits(field(rule, 'ruleId')) ?? '',
      name: text(field(rule, 'name')),
      confId: digits(field(rule, 'confId')),
      status: digits(field(rule, 'status')),
      timeWindow: readWindow(field(rule, 'timeWindow')),
      folder: text(field(rule, 'folder')) ?? '',
    })),
    skipped: list(field(answer, 'skipped')).map((entry) => ({
      file: text(field(entry, 'file')) ?? '',
      reason: text(field(entry, 'reason')) ?? '',
    })),
  };
}

function readClient(client: ExactValue): Client {
  return {
    address: text(field(client, 'address')) ?? '',
    lane: text(field(client, 'lane')),
    registered: flag(field(client, 'registered')),
    online: text(field(client, 'state')) !== 'offline',
    busy: text(field(client, 'state')) === 'busy',
    sdk: text(field(client, 'sdk')) ?? 'unknown',
    dryRun: flag(field(client, 'dryRun')),
    heartbeatAgeMs: number(field(client, 'heartbeatAgeMs')),
    loadedVersion: digits(field(client, 'loadedVersion')),
    open: number(field(client, 'open')) ?? 0,
    lastPickUpAt: number(field(client, 'lastPickUpAt')),
    noPickUpSince: number(field(client, 'noPickUpSince')),
  };
}

function readSchema(answer: ExactValue): Schema {
  const fields = list(field(answer, 'fields')).map((entry) => ({
    key: text(field(entry, 'key')) ?? '',
    valueType: text(field(entry, 'valueType')) ?? 'Object',
    nodeId: digits(field(entry, 'nodeId')) ?? '',
    nodeName: text(field(entry, 'nodeName')) ?? '',
  }));
  return { fields, fallback: flag(field(answer, 'fallback')) };
}

/** A tree, of now or of a run. */
function readTree(answer: ExactValue): Tree {
  const rule = field(answer, 'rule');
  const root = field(answer, 'root');
  const cycle = field(answer, 'cycle');
  const edited = field(answer, 'edited');
  return {
    rule: rule
      ? {
          ruleId: digits(field(rule, 'id')) ?? '',
          name: text(field(rule, 'name')),
          timeWindow: readWindow(field(rule, 'timeWindow')),
          problems: list(field(rule, 'problems')).flatMap((problem) => text(problem) ?? []),
        }
      : null,
    version: digits(field(answer, 'version')),
    root: root ? readNode(root) : null,
    keys: list(field(answer, 'keys')).map(readKeyUse),
    missing: ids(field(answer, 'missing')),
    cycle: cycle ? ids(cycle) : null,
    fallback: flag(field(answer, 'fallback')),
    digest: text(field(answer, 'digest')),
    edited: edited ? readNode(edited) : null,
  };
}

function readKeyUse(entry: ExactValue): KeyUse {
  return {
    key: text(field(entry, 'key')) ?? '',
    valueType: text(field(entry, 'valueType')) ?? 'Object',
    dynamic: flag(field(entry, 'dynamic')),
    nested: flag(field(entry, 'nested')),
    readers: ids(field(entry, 'readers')),
    writers: ids(field(entry, 'writers')),
  };
}

function ids(value: ExactValue | undefined): string[] {
  return list(value).flatMap((id) => digits(id) ?? []);
}
