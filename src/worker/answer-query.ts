import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../shared/errno.ts';
import { stringifyExact } from '../shared/exact-json.ts';
import type { Query, Selection } from '../shared/query.ts';
import type { Clients } from './directory/clients.ts';
import type { MetadataFor } from './directory/leaf-metadata.ts';
import type { Rules } from './directory/rules.ts';
import { readSchema } from './directory/schema.ts';
import { readTree } from './directory/tree.ts';

/** An answer as JSON text with every number exact, or what is not there. */
export type Answer = { kind: 'found'; body: string } | { kind: 'refused'; status: 404 | 422; error: string };

type Dependencies = { sharedDir: string; clients: Clients; rules: Rules; metadataFor: MetadataFor };

/** Answers the questions about clients and rules from the shared directory. */
export function createAnswerQuery({ sharedDir, clients, rules, metadataFor }: Dependencies) {
  return async function answerQuery(query: Query): Promise<Answer> {
    switch (query.ask) {
      case 'schema':
        return schemaOf(query);
      case 'tree':
        return treeOf(query);
      case 'apps':
        return found({ apps: (await appsWithSomething()).map((app) => ({ app })) });
      case 'rules':
        return rulesOf(query.app);
      case 'clients':
        return clientsOf(query.app);
    }
  };

  async function schemaOf(query: Selection): Promise<Answer> {
    const answer = await readSchema(selectionOf(query), { rules, metadataFor });
    if (answer.kind !== 'schema') return notThere(answer.kind, query);
    return found({ fields: answer.fields, fallback: answer.fallback });
  }

  async function treeOf(query: Selection): Promise<Answer> {
    const { kind, ...answer } = await readTree(selectionOf(query), { rules, metadataFor });
    if (kind === 'tree') return found(answer);
    if (kind === 'too-large' && 'message' in answer) return { kind: 'refused', status: 422, error: answer.message };
    return notThere(kind, query);
  }

  async function rulesOf(app: number): Promise<Answer> {
    const list = await rules.listRules(app);
    if (list.kind === 'no-rules') return found({ app, version: null, rules: [], skipped: [] });
    const entries = list.rules.map(({ id, ...rest }) => ({ ruleId: id, ...rest }));
    return found({ app, version: list.version, rules: entries, skipped: list.skipped });
  }

  async function clientsOf(app: number): Promise<Answer> {
    const entries = (await clients.list(app)).map((client) => ({
      address: client.address,
      lane: client.lane,
      registered: client.registered,
      state: client.online ? 'online' : 'offline',
      dialect: client.dialect,
      sdk: client.sdk,
      lastHeartbeat: client.registered ? BigInt(client.lastHeartbeat) : null,
      loadedVersion: client.loadedVersion === null ? null : BigInt(client.loadedVersion),
    }));
    return found({ app, clients: entries });
  }

  /** Apps that have rules, clients, or a directory somebody made for one. */
  async function appsWithSomething(): Promise<number[]> {
    const folders = [join(sharedDir, 'clients'), join(sharedDir, 'mock')];
    const names = await Promise.all(
      folders.map(async (folder) => (await readdir(folder).catch(unless('ENOENT'))) ?? []),
    );
    const apps = names.flat().filter((name) => /^[1-9]\d{0,9}$/.test(name));
    return [...new Set([...(await rules.listApps()), ...apps.map(Number)])].sort((a, b) => a - b);
  }
}

function selectionOf({ app, ruleId, confId, lane, address }: Selection) {
  return {
    app,
    ruleId: ruleId === null ? null : BigInt(ruleId),
    confId: confId === null ? null : BigInt(confId),
    lane,
    address,
  };
}

function found(answer: unknown): Answer {
  return { kind: 'found', body: stringifyExact(answer) };
}

function notThere(kind: string, { app, ruleId, confId }: Selection): Answer {
  const sentences = new Map([
    ['unknown-rule', `App ${app} has no rule ${ruleId}.`],
    ['unknown-node', `App ${app} has no node ${confId}.`],
    ['not-in-rule', `Rule ${ruleId} of app ${app} has no node ${confId}.`],
    ['no-rules', `App ${app} has no readable rules.`],
    ['unusable', `The file of rule ${ruleId} or node ${confId} of app ${app} cannot be read.`],
  ]);
  return { kind: 'refused', status: 404, error: sentences.get(kind) ?? 'It is not there.' };
}
