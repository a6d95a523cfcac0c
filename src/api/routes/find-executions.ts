import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { failuresSchema } from '../../shared/contract/execution.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { problemAt } from '../../shared/reasons/problems.ts';
import { BadCursor } from '../../shared/store/history/history.ts';
import { callerOf, needs, refusedApp, tellAbout } from '../access/authenticate.ts';
import { listBody } from '../executions/execution-body.ts';
import type { Executions } from '../executions/executions.ts';
import { isSearch } from '../executions/search/search-conditions.ts';
import { createSearchTurns } from '../executions/search/search-turns.ts';
import type { Environment } from '../http/environment.ts';
import { failureParameters, listParameters, readParameters } from '../http/parameters.ts';
import { badRequest, json, problem } from '../http/respond.ts';

type Asked = z.output<typeof failureParameters>;

/** Executions are listed and searched, and the failures among them grouped. */
export function findExecutionsRoutes(executions: Executions) {
  const inTurn = createSearchTurns();

  /** Answers a search, unless its caller may not make it. Searching inputs is reading them. */
  async function searched(
    context: Context<Environment>,
    asked: Asked,
    body: () => Promise<string>,
    isOne = true,
  ): Promise<Response> {
    const notIts = asked.app === undefined ? undefined : refusedApp(context, asked.app);
    if (notIts) return notIts;
    const hidden = executions.hiddenIn(asked);
    if (hidden !== null) return badRequest([hidden]);
    if (asked.app !== undefined)
      tellAbout(context, { app: asked.app, ruleId: asked.ruleId, batchId: asked.batchId ?? null });
    if (asked.where.length > 0)
      context.set(
        'searchedPaths',
        asked.where.map(({ path }) => path),
      );
    if (asked.where.length > 0 || asked.text !== undefined) context.set('readsInput', true);
    try {
      const answer = isOne ? await inTurn(callerOf(context).name, body) : await body();
      return answer === 'crowded' ? tooManySearches() : json(200, answer);
    } catch (error) {
      if (error instanceof BadCursor) return badRequest([problemAt('cursor', 'foreign-cursor', {})]);
      throw error;
    }
  }

  return new Hono<Environment>()
    .get('/executions', needs('read'), async (context) => {
      const read = readParameters(listParameters, context);
      if (read.kind === 'bad') return badRequest(read.problems);
      const { include, ...filter } = read.value;
      if (include !== undefined) context.set('readsInput', true);
      return searched(
        context,
        filter,
        async () => {
          const { records, ...rest } = await executions.search({ ...filter, apps: callerOf(context).apps });
          const inputs = include === undefined ? null : await executions.shortInputs(records, filter);
          const nodes = include === 'details' ? await executions.decidedBy(records, filter) : null;
          return listBody(records, { ...rest, inputs, nodes });
        },
        isSearch(filter),
      );
    })
    .get('/failures', needs('read'), async (context) => {
      const read = readParameters(failureParameters, context);
      if (read.kind === 'bad') return badRequest(read.problems);
      const { apps } = callerOf(context);
      return searched(context, read.value, async () =>
        printAs(failuresSchema, await executions.failures({ ...read.value, apps })),
      );
    });
}

function tooManySearches(): Response {
  return problem('too-many-searches', {});
}
