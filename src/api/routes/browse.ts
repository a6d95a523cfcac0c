import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { parseJson } from '../../shared/contract/parse-json.ts';
import { QUERY_VERSION, type Query } from '../../shared/contract/query.ts';
import { callerOf, needs, refusedApp } from '../access/permission.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { Environment } from '../http/environment.ts';
import { appParameters, readParameters, schemaParameters, selectionParameters } from '../http/parameters.ts';
import { badQuestion, json, problem } from '../http/respond.ts';

const v = QUERY_VERSION;

/**
 * The routes that read the shared directory: a rule's inputs (schema), apps, rules, clients, a rule's tree. A worker answers
 * them all.
 */
export function browseRoutes({ ask }: Pick<AskWorker, 'ask'>) {
  const reply = async (context: Context<Environment>, query: Query): Promise<Response> => {
    const answer = await ask(query);
    const { apps } = callerOf(context);
    if (answer.kind === 'found')
      return json(200, query.ask === 'apps' && apps ? onlyApps(answer.body, apps) : answer.body);
    return problem(answer.status, answer.error, { retryAfter: answer.status === 503 ? 'worker' : undefined });
  };

  const aboutSchema = async (context: Context<Environment>) => {
    const read = readParameters(schemaParameters, context.req.queries());
    if (read.kind === 'bad') return badQuestion(read.problems);
    return refusedApp(context, read.value.app) ?? reply(context, { v, ask: 'schema', ...read.value });
  };

  const aboutTree = async (context: Context<Environment>) => {
    const read = readParameters(selectionParameters, context.req.queries());
    if (read.kind === 'bad') return badQuestion(read.problems);
    return refusedApp(context, read.value.app) ?? reply(context, { v, ask: 'tree', ...read.value });
  };

  const aboutApp = (kind: 'rules' | 'clients') => async (context: Context<Environment>) => {
    const read = readParameters(appParameters, context.req.queries());
    if (read.kind === 'bad') return badQuestion(read.problems);
    return refusedApp(context, read.value.app) ?? reply(context, { v, ask: kind, ...read.value });
  };

  return new Hono<Environment>()
    .get('/schema', needs('read'), aboutSchema)
    .get('/tree', needs('read'), aboutTree)
    .get('/apps', needs('read'), (context) => reply(context, { v, ask: 'apps' }))
    .get('/rules', needs('read'), aboutApp('rules'))
    .get('/clients', needs('read'), aboutApp('clients'));
}

const appsSchema = z.object({ apps: z.array(z.looseObject({ app: z.int() })) });

/** The list of apps without those that a caller's key is not for. */
function onlyApps(body: string, apps: ReadonlySet<number>): string {
  const all = appsSchema.parse(parseJson(body));
  return JSON.stringify({ ...all, apps: all.apps.filter(({ app }) => apps.has(app)) });
}
