import type { Query, Selection } from '../../shared/contract/query.ts';
import { stringifyExact } from '../../shared/contract/raw-number.ts';
import { refusals } from '../../shared/contract/refusals.ts';
import type { Clients } from '../clients/clients.ts';
import type { ClientLoad } from '../placement/client-load.ts';
import type { MetadataFor } from '../rules/leaf-metadata.ts';
import type { Rules } from '../rules/rules.ts';
import { readSchema } from '../rules/schema.ts';
import { readEditedRoot, readTree } from '../rules/tree.ts';
import type { Answer } from './answer.ts';
import type { Erase } from './erase.ts';
import type { Fence } from './fence.ts';
import { createListApps } from './list-apps.ts';
import { createListClients } from './list-clients.ts';
import type { AnswerSavedCases } from './saved-cases.ts';

type Dependencies = {
  sharedDir: string;
  clients: Clients;
  load: ClientLoad;
  rules: Rules;
  metadataFor: MetadataFor;
  fence: Fence;
  erase: Erase;
  savedCases: AnswerSavedCases;
};

/** Answers the questions about clients and rules from the shared directory. */
export function createAnswerQuery({
  sharedDir,
  clients,
  load,
  rules,
  metadataFor,
  fence,
  erase,
  savedCases,
}: Dependencies) {
  const listApps = createListApps({ sharedDir, rules });
  const listClients = createListClients({ clients, load });

  return async function answerQuery(query: Query): Promise<Answer> {
    switch (query.ask) {
      case 'schema':
        return schemaOf(query);
      case 'tree':
        return treeOf(query);
      case 'apps':
        return found({ apps: await listApps() });
      case 'rules':
        return rulesOf(query.app);
      case 'clients':
        return clientsOf(query.app);
      case 'erase':
        return erase(query);
      case 'fence':
        return fence(query);
      case 'saved-cases':
      case 'save-cases':
      case 'list-saved-cases':
        return savedCases(query);
    }
  };

  async function schemaOf(query: Selection): Promise<Answer> {
    const answer = await readSchema(selectionOf(query), { rules, metadataFor });
    if (answer.kind !== 'schema') return notThere(answer.kind, query);
    return found({ fields: answer.fields, fallback: answer.fallback });
  }

  async function treeOf(query: Selection): Promise<Answer> {
    const selection = selectionOf(query);
    const { kind, ...answer } = await readTree(selection, { rules, metadataFor });
    if (kind === 'tree') return found({ ...answer, edited: await readEditedRoot(selection, { rules, metadataFor }) });
    if (kind === 'too-large' && 'message' in answer) return { kind: 'refused', status: 422, error: answer.message };
    return notThere(kind, query);
  }

  async function clientsOf(app: number): Promise<Answer> {
    const listed = await listClients(app);
    return listed ? found({ app, ...listed }) : { kind: 'refused', status: 422, error: linked(app) };
  }

  async function rulesOf(app: number): Promise<Answer> {
    const list = await rules.listRules(app);
    if (list.kind === 'no-rules') return found({ app, version: null, rules: [], skipped: [] });
    const entries = list.rules.map(({ id, ...rest }) => ({ ruleId: id, ...rest }));
    return found({ app, version: list.version, rules: entries, skipped: list.skipped });
  }
}

function linked(app: number): string {
  return `clients/${app} or mock/${app} is reached through a link, which is never followed.`;
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
  const error = new Map([
    ['unknown-rule', refusals.unknownRule(app, `${ruleId}`)],
    ['unknown-node', refusals.unknownNode(app, `${confId}`)],
    ['not-in-rule', refusals.nodeNotInRule(app, `${ruleId}`, `${confId}`)],
    ['no-rules', refusals.noRules(app)],
    ['unusable', refusals.unusableRule(app, `${ruleId}`, `${confId}`)],
  ]).get(kind);
  return { kind: 'refused', status: 404, error: error ?? 'It is not there.' };
}
