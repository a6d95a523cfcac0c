import { type Context, Hono } from 'hono';
import { keptSchema } from '../../shared/contract/execution.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { isFor } from '../../shared/runtime/access/caller.ts';
import { MAX_PINNED } from '../../shared/store/history/history.ts';
import { callerOf, needs, tellAbout } from '../access/authenticate.ts';
import type { Executions } from '../executions/executions.ts';
import { unlessNewer } from '../executions/read-jobs.ts';
import type { Environment } from '../http/environment.ts';
import { takesNoParameters } from '../http/middleware.ts';
import { json, problem } from '../http/respond.ts';
import { MOCK_ID, unknownExecution } from './executions.ts';

/** How long executions are kept: how many there are, and which of them are pinned. */
export function keptExecutionRoutes(executions: Executions) {
  /** The record of an execution that the caller may see; null for any other. */
  async function itsRecord(context: Context<Environment>, mockId: string): Promise<ExecutionRecord | null> {
    const record = MOCK_ID.test(mockId) ? await executions.find(mockId).catch(unlessNewer) : null;
    if (!record || !isFor(callerOf(context), record.app)) return null;
    tellAbout(context, record);
    return record;
  }

  return new Hono<Environment>()
    .get('/kept', needs('read'), async (context) => {
      const kept = await executions.kept();
      return json(
        200,
        printAs(keptSchema, callerOf(context).apps === null ? kept : { ...kept, executions: null, bytes: null }),
      );
    })
    .put('/executions/:mockId/pin', needs('run'), takesNoParameters(), async (context) => {
      const mockId = context.req.param('mockId');
      const record = await itsRecord(context, mockId);
      if (record === null) return unknownExecution(mockId);
      const pinned = record.ending === null ? 'unknown' : await executions.pins.pin(mockId);
      if (pinned === 'unknown') return problem('not-in-history', { mockId });
      if (pinned === 'full') return problem('pins-full', { most: MAX_PINNED });
      return new Response(null, { status: 204 });
    })
    .delete('/executions/:mockId/pin', needs('run'), takesNoParameters(), async (context) => {
      const mockId = context.req.param('mockId');
      const record = await itsRecord(context, mockId);
      if (record === null) return unknownExecution(mockId);
      await executions.pins.unpin(mockId);
      return new Response(null, { status: 204 });
    });
}
