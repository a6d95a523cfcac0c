import { type Context, Hono } from 'hono';
import { streamSSE } from 'hono/streaming';
import { csvReport } from '../../shared/reports/csv.ts';
import { jsonReport } from '../../shared/reports/json.ts';
import { junitReport } from '../../shared/reports/junit.ts';
import { markdownReport } from '../../shared/reports/markdown.ts';
import { isFor } from '../../shared/runtime/caller.ts';
import { callerOf, needs, refusedApp } from '../access/permission.ts';
import { batchBody, itemBody, wholeItemBody } from '../batches/batch-bodies.ts';
import type { Batches } from '../batches/batches.ts';
import { batchListParameters, coverageParameters, itemParameters, reportParameters } from '../batches/parameters.ts';
import { readBatchRequest } from '../batches/read-batch-request.ts';
import type { ReadCsvBatch } from '../batches/read-csv-batch.ts';
import { goneBatch, type Taken, unknownBatch } from '../batches/taken.ts';
import type { Environment } from '../http/environment.ts';
import type { BodyLease, OpenBodies } from '../http/open-bodies.ts';
import { readParameters } from '../http/parameters.ts';
import { readBody } from '../http/read-body.ts';
import { badQuestion, badRequest, json, problem } from '../http/respond.ts';
import { untilGone } from '../http/until-gone.ts';

type Dependencies = {
  batches: Batches;
  readCsvBatch: ReadCsvBatch;
  maxBodyBytes: number;
  openBodies: OpenBodies;
  stopping: AbortSignal;
};
const NO_ROOM =
  'The bodies of all open calls take as much memory as they may (MAX_OPEN_BODY_BYTES). Nothing of this one ran. Try again in a moment.';
type Found = Exclude<Awaited<ReturnType<Batches['read']>>, 'gone' | null>;

const writers = {
  junit: { write: junitReport, type: 'application/xml', extension: 'xml' },
  csv: { write: csvReport, type: 'text/csv; charset=utf-8', extension: 'csv' },
  json: { write: jsonReport, type: 'application/json', extension: 'json' },
  markdown: { write: markdownReport, type: 'text/markdown; charset=utf-8', extension: 'md' },
} as const;

/** Batches as a resource: run one, follow it, read its items and reports, cancel it. */
export function batchRoutes({ batches, readCsvBatch, maxBodyBytes, openBodies, stopping }: Dependencies) {
  const withBatch =
    (answer: (found: Found, context: Context<Environment>) => Promise<Response> | Response) =>
    async (context: Context<Environment>) => {
      const batchId = context.req.param('batchId') ?? '';
      const found = await batches.read(batchId);
      const isIts = found !== null && (found === 'gone' || isFor(callerOf(context), found.batch.app));
      if (!isIts) return problem(404, unknownBatch(batchId));
      return found === 'gone' ? problem(410, goneBatch(batchId)) : answer(found, context);
    };

  return new Hono<Environment>()
    .post('/batches', needs('run'), (context) => {
      const lease = openBodies.lease();
      return run(context, lease, { batches, readCsvBatch, maxBodyBytes }).finally(() => lease.close());
    })
    .get('/batches', needs('read'), (context) => list(context, batches))
    .get(
      '/batches/:batchId',
      needs('read'),
      withBatch((found) => json(200, batchBody(found))),
    )
    .get(
      '/batches/:batchId/items',
      needs('read'),
      withBatch((found, context) => items(found, context, batches)),
    )
    .get(
      '/batches/:batchId/items/:n',
      needs('read'),
      withBatch((found, context) => item(found, context, batches)),
    )
    .get(
      '/batches/:batchId/coverage',
      needs('read'),
      withBatch((found, context) => coverage(found, context, batches)),
    )
    .get(
      '/batches/:batchId/report',
      needs('read'),
      withBatch((found, context) => report(found, context, batches)),
    )
    .get(
      '/batches/:batchId/events',
      needs('read'),
      withBatch((found, context) => streamProgress(found, context, { batches, stopping })),
    )
    .delete(
      '/batches/:batchId',
      needs('cancel'),
      withBatch((found) => cancel(found, batches)),
    );
}

type Asked = Context<Environment>;

async function run(
  context: Asked,
  lease: BodyLease,
  { batches, readCsvBatch, maxBodyBytes }: Pick<Dependencies, 'batches' | 'readCsvBatch' | 'maxBodyBytes'>,
): Promise<Response> {
  const type = contentType(context);
  if (type === 'foreign') return problem(415, 'A browser must send content-type: application/json or text/csv.');
  const body = await readBody(context.env.incoming, maxBodyBytes, lease);
  if (body.kind !== 'complete') return refuseBody(body.kind, maxBodyBytes);
  const read = type === 'csv' ? await readCsvBatch(body.bytes, context.req.queries()) : readBatchRequest(body.bytes);
  if (read.kind === 'bad') return badRequest(read.problems);
  if (read.kind === 'refused') return problem(read.status, read.error);
  const notIts = refusedApp(context, read.request.app);
  if (notIts) return notIts;
  const key = context.req.header('idempotency-key');
  if (key !== undefined && (key.length < 1 || key.length > 255))
    return badRequest([{ field: 'Idempotency-Key', message: 'must have 1 to 255 characters' }]);
  const taken = await batches.create(read.request, { keyName: context.var.keyName ?? null, key, body: body.bytes });
  return respondToTaken(taken, batches);
}

async function list(context: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(batchListParameters, context.req.queries());
  if (read.kind === 'bad') return badQuestion(read.problems);
  const notIts = read.value.app === undefined ? undefined : refusedApp(context, read.value.app);
  if (notIts) return notIts;
  const found = await batches.list({ ...read.value, apps: callerOf(context).apps });
  return json(200, `{"items":[${found.map(batchBody).join(',')}]}`);
}

async function items({ batch }: Found, { req }: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(itemParameters, req.queries());
  if (read.kind === 'bad') return badQuestion(read.problems);
  const { items: found, next } = await batches.items(batch, { ...read.value, after: Number(read.value.cursor) });
  const bodies = found.map((one) => itemBody(batch, one));
  return json(200, `{"items":[${bodies.join(',')}],"nextCursor":${next === null ? 'null' : `"${next}"`}}`);
}

async function item({ batch }: Found, { req }: Asked, batches: Batches): Promise<Response> {
  const n = /^\d{1,6}$/.test(req.param('n') ?? '') ? Number(req.param('n')) : 0;
  const found = await batches.item(batch, n);
  return found
    ? json(200, wholeItemBody(batch, found))
    : problem(404, `Batch ${batch.batchId} has no item ${req.param('n')}.`);
}

async function coverage({ batch }: Found, { req }: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(coverageParameters, req.queries());
  if (read.kind === 'bad') return badQuestion(read.problems);
  return json(200, JSON.stringify(await batches.coverage(batch, read.value.target)));
}

async function report({ batch, progress }: Found, { req }: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(reportParameters, req.queries());
  if (read.kind === 'bad') return badQuestion(read.problems);
  const { write, type, extension } = writers[read.value.format];
  const text = write({ batch, progress, items: await batches.reported(batch) });
  const disposition = `attachment; filename="batch-${batch.batchId}.${extension}"`;
  return new Response(text, { headers: { 'content-type': type, 'content-disposition': disposition } });
}

function streamProgress(
  { batch: { batchId } }: Found,
  context: Asked,
  { batches, stopping }: Pick<Dependencies, 'batches' | 'stopping'>,
): Response {
  return streamSSE(context, (stream) =>
    untilGone({ context, stream, stopping }, async (gone) => {
      let event = 'snapshot';
      for await (const found of batches.follow(batchId, gone)) {
        await stream.writeSSE({ event, data: batchBody(found) });
        event = 'progress';
      }
    }),
  );
}

async function cancel({ batch: { batchId }, progress }: Found, batches: Batches): Promise<Response> {
  if (progress.state === 'cancelled') return json(200, JSON.stringify({ batchId, state: 'cancelled' }));
  if (await batches.cancel(batchId)) return json(202, JSON.stringify({ batchId, state: 'cancelling' }));
  return problem(409, `Batch ${batchId} has ended already; it cannot be cancelled any more.`);
}

function refuseBody(why: 'no-room' | 'too-large' | 'cut-off', maxBytes: number): Response {
  const headers = { connection: 'close' };
  if (why === 'no-room') return problem(503, NO_ROOM, { headers: { ...headers, 'retry-after': '2' } });
  if (why === 'cut-off') return badRequest([{ field: 'body', message: 'was cut off before its end' }]);
  return problem(413, `The body is larger than ${maxBytes} bytes (MAX_BATCH_BYTES).`, { headers });
}

async function respondToTaken(taken: Taken, batches: Batches): Promise<Response> {
  switch (taken.kind) {
    case 'bad':
      return badRequest(taken.problems);
    case 'other-body':
      return problem(422, 'This Idempotency-Key was used for a call with another body: use a new key for a new call.');
    case 'refused':
      return problem(taken.status, taken.error, taken.status === 503 ? { headers: { 'retry-after': '5' } } : {});
    case 'taken': {
      const location = `/rule-server/mock/batches/${taken.batchId}`;
      const found = await batches.read(taken.batchId);
      const body = found === null || found === 'gone' ? JSON.stringify({ batchId: taken.batchId }) : batchBody(found);
      return json(202, body, { location });
    }
  }
}

/** Browsers send forms and plain text to any site without asking it first; JSON and CSV they do not. */
function contentType({ req }: Context<Environment>): 'json' | 'csv' | 'foreign' {
  const type = (req.header('content-type') ?? '').split(';')[0]?.trim().toLowerCase();
  if (type === 'text/csv') return 'csv';
  const fromBrowser = req.header('origin') !== undefined || req.header('sec-fetch-site') !== undefined;
  return fromBrowser && type !== 'application/json' ? 'foreign' : 'json';
}
