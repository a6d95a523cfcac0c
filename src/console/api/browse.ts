import type { Permission } from '../../shared/contract/caller.ts';
import type { RuleReadiness } from '../../shared/contract/readiness.ts';
import type {
  KeyUse,
  RuleSummary,
  RuleVersions,
  Schema,
  SchemaField,
  Client as ToldClient,
  Tree,
} from '../../shared/contract/rules-and-clients.ts';
import { readAs } from './read-answer.ts';
import { getAs, withQuery } from './request.ts';
import * as shapes from './shapes.ts';

const BASE = '/rule-server/mock';

export type { KeyUse, RuleSummary, Schema, SchemaField, Tree };
/** `online`: it can be run on. */
export type Client = ToldClient & { online: boolean; busy: boolean };

/** The query of a schema or a tree. */
export type Selection = {
  app: string;
  ruleId: string | null;
  confId: string | null;
  lane: string | null;
  address: string | null;
};

export type App = { app: string; name: string | null };

export async function getApps(signal?: AbortSignal): Promise<App[]> {
  const { items } = await getAs(`${BASE}/apps`, shapes.apps, signal);
  return items.map(({ app, name }) => ({ app: String(app), name }));
}

export async function getRules(app: string, signal?: AbortSignal) {
  const { items: rules, ...list } = await getAs(withQuery(`${BASE}/rules`, { app }), shapes.rules, signal);
  return { ...list, rules };
}

export async function getClients(app: string, signal?: AbortSignal): Promise<Client[]> {
  const { items } = await getAs(withQuery(`${BASE}/clients`, { app }), shapes.clients, signal);
  return items.map((client) => ({ ...client, online: client.state !== 'offline', busy: client.state === 'busy' }));
}

export function getSchema(selection: Selection, signal?: AbortSignal): Promise<Schema> {
  return getAs(withQuery(`${BASE}/schema`, selection), shapes.schema, signal);
}

export function getTree(selection: Selection, signal?: AbortSignal): Promise<Tree> {
  return getAs(withQuery(`${BASE}/tree`, selection), shapes.tree, signal);
}

/** A rule on a version and on those before it. */
export function getVersions(of: Selection & { version: string }): Promise<RuleVersions> {
  return getAs(withQuery(`${BASE}/versions`, of), shapes.ruleVersions);
}

/** The tree that an execution ran on; null when it is not kept. */
export async function getTreeOfRun(mockId: string, signal?: AbortSignal): Promise<Tree | null> {
  const path = withQuery(`${BASE}/executions/${encodeURIComponent(mockId)}`, { include: 'tree' });
  const { tree } = await getAs(path, shapes.execution, signal);
  return tree ? readTree(tree) : null;
}

export const readTree = (text: string): Tree => readAs(shapes.tree, text);

export type { Permission };

/** The page's caller. `name`: null where no key is needed. */
type Caller = { name: string | null; may: ReadonlySet<Permission> };

export async function getCaller(signal?: AbortSignal): Promise<Caller> {
  const { name, may } = await getAs('/session', shapes.caller, signal);
  return { name, may: new Set(may) };
}

export type { RuleReadiness };

/** Whether each rule of an app can be released to a target. */
export async function getReadiness(app: string, target: string, signal?: AbortSignal): Promise<RuleReadiness[]> {
  return (await getAs(withQuery('/rule-server/mock/readiness', { app, target }), shapes.readiness, signal)).rules;
}
