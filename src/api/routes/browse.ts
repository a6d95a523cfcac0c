import { type Context, Hono } from 'hono';
import { QUERY_VERSION, type Query } from '../../shared/contract/query.ts';
import type { AskWorker } from '../ask-worker.ts';
import type { Environment } from '../http/environment.ts';
import { appParameters, readParameters, selectionParameters } from '../http/parameters.ts';
import { badQuestion, problem } from '../http/respond.ts';

const v = QUERY_VERSION;

/** What a rule reads (schema) and what is there to run: apps, rules, clients, a rule's tree. A worker answers them all. */
export function browseRoutes({ ask }: Pick<AskWorker, 'ask'>) {
  const reply = async (context: Context<Environment>, query: Query): Promise<Response> => {
    const answer = await ask(query);
    if (answer.kind === 'found') return context.body(answer.body, 200, { 'content-type': 'application/json' });
    const headers = answer.status === 503 ? { 'retry-after': '2' } : {};
    return problem(answer.status, answer.error, { headers });
  };

  const aboutSelection = (kind: 'schema' | 'tree') => async (context: Context<Environment>) => {
    const read = readParameters(selectionParameters, context.req.queries());
    return read.kind === 'bad' ? badQuestion(read.problems) : reply(context, { v, ask: kind, ...read.value });
  };

  const aboutApp = (kind: 'rules' | 'clients') => async (context: Context<Environment>) => {
    const read = readParameters(appParameters, context.req.queries());
    return read.kind === 'bad' ? badQuestion(read.problems) : reply(context, { v, ask: kind, ...read.value });
  };

  return new Hono<Environment>()
    .get('/schema', aboutSelection('schema'))
    .get('/tree', aboutSelection('tree'))
    .get('/apps', (context) => reply(context, { v, ask: 'apps' }))
    .get('/rules', aboutApp('rules'))
    .get('/clients', aboutApp('clients'));
}
