import { Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { stringifyExact } from '../../shared/exact-json.ts';
import type { ExecutionRecord } from '../../shared/execution.ts';
import { BadCursor } from '../../shared/history.ts';
import { isEndState } from '../../shared/states.ts';
import type { Environment } from '../environment.ts';
import type { Execution, Executions } from '../executions.ts';
import { badRequest, json, problem } from '../respond.ts';

const DEFAULT_LIMIT = 20;
const MAX_LIMIT = 100;
const KEEP_ALIVE_MS = 15_000;

/** Executions as a resource: one, the list, its events as they happen, and cancelling it. */
export function executionRoutes(executions: Executions) {
  return new Hono<Environment>()
    .get('/executions', async ({ req }) => {
      const limit = Number(req.query('limit') || DEFAULT_LIMIT);
      const app = req.query('app') ? Number(req.query('app')) : undefined;
      const ruleId = req.query('ruleId') || undefined;
      const problems = [
        ...(Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT
          ? []
          : [{ field: 'limit', message: `must be a whole number from 1 to ${MAX_LIMIT}` }]),
        ...(app === undefined || (Number.isInteger(app) && app > 0)
          ? []
          : [{ field: 'app', message: 'must be a positive integer' }]),
        ...(ruleId === undefined || /^[1-9]\d{0,18}$/.test(ruleId)
          ? []
          : [{ field: 'ruleId', message: 'must be a positive integer' }]),
      ];
      if (problems.length > 0) return badRequest(problems);
      try {
        const { records, nextCursor } = await executions.list({
          app,
          ruleId,
          limit,
          cursor: req.query('cursor') || undefined,
        });
        return json(200, stringifyExact({ items: records.map(members), nextCursor }));
      } catch (error) {
        if (error instanceof BadCursor) return badRequest([{ field: 'cursor', message: error.message }]);
        throw error;
      }
    })
    .get('/executions/:mockId', async ({ req }) => {
      const execution = await executions.get(req.param('mockId'));
      return execution ? json(200, body(execution)) : unknown(req.param('mockId'));
    })
    .delete('/executions/:mockId', async ({ req }) => {
      const mockId = req.param('mockId');
      switch (await executions.cancel(mockId)) {
        case 'unknown':
          return unknown(mockId);
        case 'settled':
          return problem(409, `Execution ${mockId} has ended already; it cannot be cancelled any more.`);
        case 'cancelled':
          return json(200, JSON.stringify({ mockId, state: 'cancelled' }));
        case 'asked':
          return json(202, JSON.stringify({ mockId, state: 'cancelling' }));
      }
    })
    .get('/executions/:mockId/events', async (context) => {
      const mockId = context.req.param('mockId');
      const first = await executions.find(mockId);
      if (!first) return unknown(mockId);
      const seen = Number(context.req.header('last-event-id') ?? -1);
      if (isEndState(first.state) && seen >= first.history.length - 1) return new Response(null, { status: 204 });

      context.header('cache-control', 'no-store');
      context.header('x-accel-buffering', 'no');
      return streamSSE(context, async (stream) => {
        const gone = new AbortController();
        stream.onAbort(() => gone.abort());
        const keepAlive = setInterval(() => void stream.write(': still here\n\n'), KEEP_ALIVE_MS);
        let sent = Number.isInteger(seen) ? seen : -1;
        await stream.writeSSE({ event: 'snapshot', data: stringifyExact(members(first)) });
        for await (const record of executions.follow(mockId, gone.signal)) {
          for (const [ordinal, step] of record.history.entries()) {
            if (ordinal <= sent) continue;
            await stream.writeSSE({
              event: 'state',
              id: String(ordinal),
              data: JSON.stringify({
                ...step,
                address: record.address,
                outcome: isEndState(step.state) ? record.outcome : null,
              }),
            });
            sent = ordinal;
          }
        }
        clearInterval(keepAlive);
      });
    });
}

function unknown(mockId: string): Response {
  return problem(404, `There is no execution ${mockId}, or it is too long ago (HISTORY_COUNT, HISTORY_SECONDS).`);
}

/** An execution without its texts. Ids are printed as the integers they are. */
function members({
  mockId,
  app,
  ruleId,
  confId,
  ts,
  target,
  keyName,
  address,
  state,
  history,
  warnings,
  outcome,
}: ExecutionRecord) {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  return {
    mockId,
    app,
    ruleId: id(ruleId),
    confId: id(confId),
    ts: id(ts),
    target,
    keyName,
    address,
    state,
    history,
    warnings,
    outcome,
  };
}

/** Inputs and results stay the text they are. */
function body({ record, input, result, lateResult }: Execution): string {
  const texts = { input: input ?? 'null', result: result ?? 'null', ...(lateResult === null ? {} : { lateResult }) };
  const rest = Object.entries(texts).map(([key, raw]) => `${JSON.stringify(key)}:${raw}`);
  return `${stringifyExact(members(record)).slice(0, -1)},${rest.join(',')}}`;
}
