import { Hono } from 'hono';
import type { SSEStreamingApi } from 'hono/streaming';
import { isEndState } from '../../shared/contract/endings/states.ts';
import { stateEventSchema } from '../../shared/contract/execution.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { isFor } from '../../shared/runtime/access/caller.ts';
import { RETRY_MS } from '../../shared/runtime/async.ts';
import { callerOf, needs } from '../access/authenticate.ts';
import { recordBody } from '../executions/execution-body.ts';
import type { Executions } from '../executions/executions.ts';
import type { Environment } from '../http/environment.ts';
import { streamEvents } from '../http/until-gone.ts';
import { unknownExecution } from './executions.ts';

type EventsDependencies = { executions: Executions; stopping: AbortSignal };

/**
 * Tells the states of an execution as server-sent events: a snapshot, then every state with its ordinal as id, until the end
 * state. A caller that comes back with the last id gets what it missed, and 204 when it missed nothing and nothing will come.
 */
export function eventRoutes({ executions, stopping }: EventsDependencies) {
  return new Hono<Environment>().get('/executions/:mockId/events', needs('read'), async (context) => {
    const mockId = context.req.param('mockId');
    const first = await executions.find(mockId);
    if (!first || !isFor(callerOf(context), first.app)) return unknownExecution(mockId);
    const seen = ordinalOf(context.req.header('last-event-id'));
    if (isEndState(first.state) && seen >= first.history.length - 1) return new Response(null, { status: 204 });

    return streamEvents(context, stopping, async (stream, gone) => {
      await stream.writeSSE({ event: 'snapshot', data: recordBody(first), retry: RETRY_MS });
      await tell(stream, executions.follow(mockId, gone), seen);
    });
  });
}

async function tell(stream: SSEStreamingApi, records: AsyncIterable<ExecutionRecord>, seen: number): Promise<void> {
  let sent = seen;
  for await (const { history, address, ending } of records) {
    for (const [ordinal, step] of history.entries()) {
      if (ordinal <= sent) continue;
      const data = printAs(stateEventSchema, { ...step, address, ending: isEndState(step.state) ? ending : null });
      await stream.writeSSE({ event: 'state', id: String(ordinal), data });
      sent = ordinal;
    }
  }
}

function ordinalOf(lastEventId: string | undefined): number {
  return /^\d{1,9}$/.test(lastEventId ?? '') ? Number(lastEventId) : -1;
}
