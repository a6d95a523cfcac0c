import { type Context, Hono } from 'hono';
import { QUERY_VERSION, type Query } from '../../shared/contract/query.ts';
import { appsSchema, schemaSchema } from '../../shared/contract/rules-and-clients.ts';
import { printAs, readAs } from '../../shared/contract/wire.ts';
import { callerOf, needs, refusedApp } from '../access/authenticate.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { Environment } from '../http/environment.ts';
import { appParameters, readParameters, schemaParameters, treeParameters } from '../http/parameters.ts';
import { badRequest, json, respondToRefusal } from '../http/respond.ts';

const v = QUERY_VERSION;

/**
 * The routes that read the shared directory: a rule's inputs (schema), apps, rules, clients, a rule's tree. A worker answers
 * them all.
 */
export function browseRoutes({ ask }: Pick<AskWorker, 'ask'>) {
  const reply = async (query: Query, show = whole): Promise<Response> => {
    const answer = await ask(query);
    if (answer.kind === 'found') return json(200, show(answer.body));
    return respondToRefusal(answer);
  };

  const aboutSchema = async (context: Context<Environment>) => {
    const read = readParameters(schemaParameters, context);
    if (read.kind === 'bad') return badRequest(read.problems);
    const { include, ...selection } = read.value;
    const show = include === 'settings' ? undefined : plainSchema;
    return refusedApp(context, selection.app) ?? reply({ v, ask: 'schema', ...selection }, show);
  };

  const aboutTree = async (context: Context<Environment>) => {
    const read = readParameters(treeParameters, context);
    if (read.kind === 'bad') return badRequest(read.problems);
    return refusedApp(context, read.value.app) ?? reply({ v, ask: 'tree', ...read.value });
  };

  const aboutApp = (kind: 'rules' | 'clients') => async (context: Context<Environment>) => {
    const read = readParameters(appParameters, context);
    if (read.kind === 'bad') return badRequest(read.problems);
    return refusedApp(context, read.value.app) ?? reply({ v, ask: kind, ...read.value });
  };

  return new Hono<Environment>()
    .get('/schema', needs('read'), aboutSchema)
    .get('/tree', needs('read'), aboutTree)
    .get('/apps', needs('read'), (context) => {
      const { apps } = callerOf(context);
      return reply({ v, ask: 'apps' }, apps === null ? whole : (body) => onlyApps(body, apps));
    })
    .get('/rules', needs('read'), aboutApp('rules'))
    .get('/clients', needs('read'), aboutApp('clients'));
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
