import { type Context, Hono } from 'hono';
import { cancelledSchema } from '../../shared/contract/execution.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { isFor } from '../../shared/runtime/access/caller.ts';
import { callerOf, needs, tellAbout } from '../access/authenticate.ts';
import type { EraseExecution } from '../executions/erase-execution.ts';
import { executionBody } from '../executions/execution-body.ts';
import type { Executions } from '../executions/executions.ts';
import { unlessNewer } from '../executions/read-jobs.ts';
import type { Environment } from '../http/environment.ts';
import { eraseParameters, executionParameters, readParameters } from '../http/parameters.ts';
import { badRequest, json, problem } from '../http/respond.ts';

export const MOCK_ID = /^[0-9a-f-]{36}$/;

/** One execution as a resource: reading it, cancelling it, erasing it. */
export function executionRoutes(executions: Executions, eraseExecution: EraseExecution) {
  return new Hono<Environment>()
    .get('/executions/:mockId', needs('read'), async (context) => {
      const mockId = context.req.param('mockId');
      const read = readParameters(executionParameters, context);
      if (read.kind === 'bad') return badRequest(read.problems);
      const execution = await executions.get(mockId);
      const isIts = execution !== null && isFor(callerOf(context), execution.record.app);
      if (!isIts) return unknownExecution(mockId);
      tellAbout(context, execution.record);
      if (execution.gone) return notKept(execution.record);
      const tree = read.value.include === 'tree' ? await executions.pins.treeOf(execution.record) : undefined;
      return json(200, executionBody(execution, { tree, ...(await executions.keptUntil(execution.record)) }));
    })
    .delete('/executions/:mockId', needs(toCancelOrErase), async (context) => {
      const mockId = context.req.param('mockId');
      const read = readParameters(eraseParameters, context);
      if (read.kind === 'bad') return badRequest(read.problems);
      const { apps } = callerOf(context);
      const record = await executions.find(mockId).catch(unlessNewer);
      if (apps !== null && !(record && apps.has(record.app))) return unknownExecution(mockId);
      if (record) tellAbout(context, record);
      if (read.value.erase) return erase(mockId, apps, eraseExecution);
      switch (await executions.cancel(mockId)) {
        case 'unknown':
          return unknownExecution(mockId);
        case 'settled':
          return problem('execution-ended', { mockId });
        case 'cancelled':
          return json(200, printAs(cancelledSchema, { mockId, state: 'cancelled' }));
        case 'asked':
          return json(202, printAs(cancelledSchema, { mockId, state: 'cancelling' }));
      }
    });
}

function toCancelOrErase({ req }: Context<Environment>) {
  return req.query('erase') === 'true' ? 'ops' : 'cancel';
}

async function erase(mockId: string, apps: ReadonlySet<number> | null, eraseIt: EraseExecution): Promise<Response> {
  const erased = MOCK_ID.test(mockId) ? await eraseIt(mockId, apps) : ({ kind: 'unknown' } as const);
  switch (erased.kind) {
    case 'erased':
      return json(200, printAs(cancelledSchema, { mockId, state: 'erased', found: erased.found }));
    case 'unknown':
      return unknownExecution(mockId);
    case 'open':
      return problem(erased.code, { mockId });
    case 'refused':
      return problem('files-not-erased', { mockId });
  }
}

/** The answer for an execution of which only the record is kept. */
const notKept = ({ mockId, app, state }: ExecutionRecord) => problem('execution-not-kept', { mockId, app, state });

/** The id is unknown, or not known any more. */
export function unknownExecution(mockId: string): Response {
  return problem('unknown-execution', { mockId });
}
