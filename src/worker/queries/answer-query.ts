import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { RawNumber, stringifyExact } from '../../shared/contract/exact-json.ts';
import type { Query, Selection } from '../../shared/contract/query.ts';
import type { Client } from '../clients/client.ts';
import type { Clients } from '../clients/clients.ts';
import { readBoundedFile } from '../files/bounded-file.ts';
import { createConcurrencyLimit } from '../files/concurrency-limit.ts';
import { absent } from '../files/reading.ts';
import { ForeignPath } from '../files/shared-directory.ts';
import type { ClientLoad } from '../placement/client-load.ts';
import { optionalText, parseConfig } from '../rules/config-fields.ts';
import { isRealFolder } from '../rules/folder-listing.ts';
import type { MetadataFor } from '../rules/leaf-metadata.ts';
import type { Rules } from '../rules/rules.ts';
import { readSchema } from '../rules/schema.ts';
import { readTree } from '../rules/tree.ts';
import type { Fence } from './fence.ts';

const MAX_APP = 2_147_483_647;
const MAX_APP_BYTES = 64 * 1024;
const PARALLEL_LOOKS = 16;

/** An answer as JSON text with every number exact, or what is not there. */
export type Answer =
  | { kind: 'found'; body: string }
  | { kind: 'refused'; status: 404 | 422; error: string }
  /** Not for this worker: another one may know. */
  | { kind: 'pass-on' };

type Dependencies = {
  sharedDir: string;
  clients: Clients;
  load: ClientLoad;
  rules: Rules;
  metadataFor: MetadataFor;
  fence: Fence;
};

/** Answers the questions about clients and rules from the shared directory. */
export function createAnswerQuery({ sharedDir, clients, load, rules, metadataFor, fence }: Dependencies) {
  const run = createConcurrencyLimit(PARALLEL_LOOKS);

  return async function answerQuery(query: Query): Promise<Answer> {
    switch (query.ask) {
      case 'schema':
        return schemaOf(query);
      case 'tree':
        return treeOf(query);
      case 'apps':
        return found({ apps: await Promise.all((await appsWithSomething()).map(named)) });
      case 'rules':
        return rulesOf(query.app);
      case 'clients':
        return clientsOf(query.app);
      case 'fence':
        return fence(query);
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
    const roster = await clients.roster(app, { fresh: true }).catch(unlessForeign);
    if (roster === null) return { kind: 'refused', status: 422, error: linked(app) };
    const entries = await Promise.all(roster.clients.map((client) => run(() => entryOf(client))));
    return found({ app, clients: entries, skipped: roster.skipped });
  }

  async function entryOf(client: Client) {
    const { address, lane, registered, online, dialect, sdk, lastHeartbeat, beatAt, loadedVersion } = client;
    const state = (await load.isRunning(client)) ? 'busy' : online ? 'online' : 'offline';
    const hasBeaten = beatAt > 0;
    return {
      ...{ address, lane, registered, state, dialect, sdk },
      lastHeartbeat: hasBeaten ? BigInt(Math.trunc(lastHeartbeat)) : null,
      heartbeatAgeMs: hasBeaten ? Math.max(0, Math.round(Date.now() - beatAt)) : null,
      loadedVersion: loadedVersion === null ? null : new RawNumber(loadedVersion),
      open: await load.openAt(client),
    };
  }

  /** Apps that have rules, clients, or a directory somebody made for one. */
  async function appsWithSomething(): Promise<number[]> {
    const folders = [join(sharedDir, 'clients'), join(sharedDir, 'mock')];
    const names = await Promise.all(
      folders.map(async (folder) => ((await isRealFolder(folder)) ? readdir(folder) : [])),
    );
    const apps = names.flat().filter((name) => /^[1-9]\d{0,9}$/.test(name) && Number(name) <= MAX_APP);
    return [...new Set([...(await rules.listApps()), ...apps.map(Number)])].sort((a, b) => a - b);
  }

  /** An app with the name it has where its rules are kept, if there is one. */
  async function named(app: number): Promise<{ app: number; name: string | null }> {
    const folder = join(sharedDir, 'apps');
    const text = (await isRealFolder(folder))
      ? await run(() => readBoundedFile(join(folder, `${app}.json`), MAX_APP_BYTES))
      : absent;
    const parsed = text.kind === 'found' ? parseConfig(text.value, appSchema) : text;
    return { app, name: parsed.kind === 'found' ? parsed.value.name : null };
  }
}

const appSchema = z.object({ name: optionalText });

function unlessForeign(error: unknown): null {
  if (error instanceof ForeignPath) return null;
  throw error;
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
  const sentences = new Map([
    ['unknown-rule', `App ${app} has no rule ${ruleId}.`],
    ['unknown-node', `App ${app} has no node ${confId}.`],
    ['not-in-rule', `Rule ${ruleId} of app ${app} has no node ${confId}.`],
    ['no-rules', `App ${app} has no readable rules.`],
    ['unusable', `The file of rule ${ruleId} or node ${confId} of app ${app} cannot be read.`],
  ]);
  return { kind: 'refused', status: 404, error: sentences.get(kind) ?? 'It is not there.' };
}
