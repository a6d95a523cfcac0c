import { Hono } from 'hono';
import { BadCursor } from '../../shared/store/history.ts';
import { executionBody, listBody } from '../executions/execution-body.ts';
import type { Executions } from '../executions/executions.ts';
import type { Environment } from '../http/environment.ts';
import { listParameters, readParameters } from '../http/parameters.ts';
import { badQuestion, json, problem } from '../http/respond.ts';

/** Executions as a resource: the list, one of them, and cancelling it. */
export function executionRoutes(executions: Executions) {
  return new Hono<Environment>()
    .get('/executions', async ({ req }) => {
      const read = readParameters(listParameters, req.queries());
      if (read.kind === 'bad') return badQuestion(read.problems);
      try {
        const { records, nextCursor } = await executions.list(read.value);
        return json(200, listBody(records, nextCursor));
      } catch (error) {
        if (error instanceof BadCursor) return badQuestion([{ field: 'cursor', message: error.message }]);
        throw error;
      }
    })
    .get('/executions/:mockId', async ({ req }) => {
      const execution = await executions.get(req.param('mockId'));
      return execution ? json(200, executionBody(execution)) : unknownExecution(req.param('mockId'));
    })
    .delete('/executions/:mockId', async ({ req }) => {
      const mockId = req.param('mockId');
      switch (await executions.cancel(mockId)) {
        case 'unknown':
          return unknownExecution(mockId);
        case 'settled':
          return problem(409, `Execution ${mockId} has ended already; it cannot be cancelled any more.`);
        case 'cancelled':
          return json(200, JSON.stringify({ mockId, state: 'cancelled' }));
        case 'asked':
          return json(202, JSON.stringify({ mockId, state: 'cancelling' }));
      }
    });
}

/** Nobody knows this id (any more). */
export function unknownExecution(mockId: string): Response {
  return problem(404, `There is no execution ${mockId}, or it is too long ago (HISTORY_COUNT, HISTORY_SECONDS).`);
}
