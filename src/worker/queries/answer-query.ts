import { RawNumber, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import type { Query, Selection } from '../../shared/contract/query.ts';
import { skippedBody } from '../../shared/contract/rules-and-clients.ts';
import { time } from '../../shared/ports/time.ts';
import { refused } from '../../shared/runtime/http-refusals.ts';
import type { Client } from '../clients/client.ts';
import type { Clients } from '../clients/clients.ts';
import type { PickUps } from '../clients/pick-ups.ts';
import { ForeignPath } from '../files/client-directory.ts';
import { mapInBulk } from '../files/reading/bulk.ts';
import type { SharedDirectory } from '../files/shared-directory.ts';
import type { ClientLoad } from '../placement/client-load.ts';
import type { MetadataFor } from '../rules/leaves/leaf-metadata.ts';
import { readSchema } from '../rules/leaves/schema.ts';
import type { Rules } from '../rules/rules.ts';
import { shownRule } from '../rules/tree/rule-graph.ts';
import { readEditedRoot, readTree, readVersions } from '../rules/tree/tree.ts';
import type { Answer } from './answer.ts';
import type { Erase } from './erase.ts';
import type { Fence } from './fence.ts';
import { createListApps } from './list-apps.ts';
import type { AnswerSavedCases } from './saved-cases.ts';

type AnswerQueryDependencies = {
  sharedDir: string;
  sharedDirectory: Pick<SharedDirectory, 'fault'>;
  clients: Clients;
  load: ClientLoad;
  pickUps: PickUps;
  rules: Rules;
  metadataFor: MetadataFor;
  fence: Fence;
  erase: Erase;
  savedCases: AnswerSavedCases;
};

/** Answers the questions about clients and rules from the shared directory. */
export function createAnswerQuery({
  sharedDir,
  sharedDirectory,
  clients,
  load,
  pickUps,
  rules,
  metadataFor,
  fence,
  erase,
  savedCases,
}: AnswerQueryDependencies) {
  const listApps = createListApps({ sharedDir, rules, clients });
  const listClients = createListClients({ clients, load, pickUps });

  return async function answerQuery(query: Query): Promise<Answer> {
    // What the wrong directory says is no answer.
    if (sharedDirectory.fault() !== null) return { kind: 'pass-on' };
    switch (query.ask) {
      case 'schema':
        return schemaOf(query);
      case 'tree':
        return treeOf(query, { rules, metadataFor });
      case 'versions':
        return versionsOf(query, { rules, metadataFor });
      case 'apps':
        return found({ items: await listApps(), ...allOnOnePage });
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
    const { kind, ...answer } = await readSchema(selectionOf(query), { rules, metadataFor });
    return kind === 'schema' ? found(answer) : notThere(kind, query);
  }

  async function clientsOf(app: number): Promise<Answer> {
    const listed = await listClients(app);
    return listed ? found({ app, ...listed }) : refused('clients-linked', { app });
  }

  async function rulesOf(app: number): Promise<Answer> {
    const list = await rules.listRules(app);
    if (list.kind === 'no-rules') return found({ app, version: null, items: [], ...allOnOnePage, skipped: [] });
    const entries = list.rules.map(shownRule).map(({ id, ...rest }) => ({ ruleId: id, ...rest }));
    return found({
      app,
      version: list.version,
      items: entries,
      ...allOnOnePage,
      skipped: list.skipped.map(skippedBody),
    });
  }
}

const allOnOnePage = { nextCursor: null };

type Sources = Pick<AnswerQueryDependencies, 'rules' | 'metadataFor'>;

async function treeOf(query: Selection, sources: Sources): Promise<Answer> {
  const selection = selectionOf(query);
  const { kind, ...answer } = await readTree(selection, sources);
  if (kind === 'tree') return found({ ...answer, edited: await readEditedRoot(selection, sources) });
  if (kind === 'too-large') return refused('tree-too-large', {});
  if (kind === 'unusable' && 'fault' in answer)
    return refused('unusable-rule', { app: query.app, ...answer.of, ...answer.fault });
  return notThere(kind, query);
}

async function versionsOf({ version, ...query }: Selection & { version: string }, sources: Sources): Promise<Answer> {
  const answer = await readVersions({ ...selectionOf(query), version: BigInt(version) }, sources);
  return answer.items.length > 0 ? found(answer) : refused('unknown-version', { app: query.app, version });
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

function notThere(kind: string, { app, ruleId: rule, confId: node }: Selection): Answer {
  const [ruleId, confId] = [`${rule}`, `${node}`];
  switch (kind) {
    case 'unknown-rule':
      return refused('unknown-rule', { app, ruleId });
    case 'unknown-node':
      return refused('unknown-node', { app, confId });
    case 'not-in-rule':
      return refused('node-not-in-rule', { app, ruleId, confId });
    default:
      return refused('no-rules', { app });
  }
}

/** Lists the clients of an app with what each has to do; null when a link stands where they should be. */
function createListClients({ clients, load, pickUps }: Pick<AnswerQueryDependencies, 'clients' | 'load' | 'pickUps'>) {
  return async function listClients(app: number) {
    const roster = await clients.roster(app, { fresh: true }).catch(unlessForeign);
    if (roster === null) return null;
    const entries = await mapInBulk(roster.clients, entryOf);
    return { items: entries, ...allOnOnePage, skipped: roster.skipped.map(skippedBody) };
  };

  async function entryOf(client: Client) {
    const { address, lane, registered, online, dialect, sdk, dryRun, lastHeartbeat, beatAt, loadedVersion } = client;
    const state = (await load.isRunning(client)) ? 'busy' : online ? 'online' : 'offline';
    const hasBeaten = beatAt > 0;
    const { lastPickUpAt, noPickUpSince } = await pickUps.timesOf(client);
    return {
      ...{ address, lane, registered, state, dialect, sdk, dryRun },
      lastHeartbeat: hasBeaten ? BigInt(Math.trunc(lastHeartbeat)) : null,
      heartbeatAgeMs: hasBeaten ? Math.max(0, Math.round(time.now() - beatAt)) : null,
      loadedVersion: loadedVersion === null ? null : new RawNumber(loadedVersion),
      open: await load.openAt(client),
      ...{ lastPickUpAt, noPickUpSince },
    };
  }
}

function unlessForeign(error: unknown): null {
  if (error instanceof ForeignPath) return null;
  throw error;
}
