import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { QUERY_VERSION, type Query } from '../../shared/contract/query.ts';
import { appsSchema, schemaSchema } from '../../shared/contract/rules-and-clients.ts';
import { printAs, readAs } from '../../shared/contract/wire.ts';
import { callerOf, needs, refusedApp } from '../access/authenticate.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { Environment } from '../http/environment.ts';
import {
  appParameters,
  readParameters,
  schemaParameters,
  selectionParameters,
  versionsParameters,
} from '../http/parameters.ts';
import { badRequest, json, respondToRefusal } from '../http/respond.ts';

const v = QUERY_VERSION;

/**
 * The routes that read the shared directory: a rule's inputs (schema), apps, rules, clients, a rule's tree and its versions. A worker answers
 * them all.
 */
export function browseRoutes({ ask }: Pick<AskWorker, 'ask'>) {
  const reply = async (query: Query, show = whole): Promise<Response> => {
    const answer = await ask(query);
    if (answer.kind === 'found') return json(200, show(answer.body));
    return respondToRefusal(answer);
  };

  const about =
    <Asked extends { app: number }>(
      parameters: z.ZodObject & z.ZodType<Asked>,
      questionOf: (asked: Asked) => Parameters<typeof reply>,
    ) =>
    async (context: Context<Environment>) => {
      const read = readParameters(parameters, context);
      if (read.kind === 'bad') return badRequest(read.problems);
      return refusedApp(context, read.value.app) ?? reply(...questionOf(read.value));
    };

  const aboutSchema = about(schemaParameters, ({ include, ...asked }) => [
    { v, ask: 'schema', ...asked },
    include === 'settings' ? whole : plainSchema,
  ]);
  const aboutTree = about(selectionParameters, (asked) => [{ v, ask: 'tree', ...asked }]);
  const aboutVersions = about(versionsParameters, (asked) => [{ v, ask: 'versions', ...asked }]);
  const aboutRules = about(appParameters, ({ app }) => [{ v, ask: 'rules', app }]);
  const aboutClients = about(appParameters, ({ app }) => [{ v, ask: 'clients', app }]);

  return new Hono<Environment>()
    .get('/schema', needs('read'), aboutSchema)
    .get('/tree', needs('read'), aboutTree)
    .get('/versions', needs('read'), aboutVersions)
    .get('/apps', needs('read'), (context) => {
      const { apps } = callerOf(context);
      return reply({ v, ask: 'apps' }, apps === null ? whole : (body) => onlyApps(body, apps));
    })
    .get('/rules', needs('read'), aboutRules)
    .get('/clients', needs('read'), aboutClients);
}

const whole = (body: string) => body;

/** The keys alone. Workers answer with the nodes that read them as well. */
function plainSchema(body: string): string {
  const answer = readAs(schemaSchema, body);
  const fields = answer.fields.map((each) => ({ ...each, nodes: undefined }));
  return printAs(schemaSchema, { ...answer, fields });
}

/** The list of apps without those that a caller's key is not for. */
function onlyApps(body: string, apps: ReadonlySet<number>): string {
  const all = readAs(appsSchema, body);
  return printAs(appsSchema, { ...all, items: all.items.filter(({ app }) => apps.has(app)) });
}
