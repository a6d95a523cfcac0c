import { type Context, Hono } from 'hono';
import {
  batchBodySchema,
  batchListSchema,
  cancelledBatchSchema,
  coverageSchema,
  itemListSchema,
  wholeItemSchema,
} from '../../shared/contract/batches.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { problemAt } from '../../shared/reasons/problems.ts';
import { csvReport } from '../../shared/reports/csv.ts';
import { jsonReport, reportedBatch } from '../../shared/reports/json.ts';
import { junitReport } from '../../shared/reports/junit.ts';
import { markdownReport } from '../../shared/reports/markdown.ts';
import { isFor } from '../../shared/runtime/access/caller.ts';
import { callerOf, needs, refusedApp, tellAbout } from '../access/authenticate.ts';
import { batchBody, detailedItemBody, itemBody, wholeItemBody } from '../batches/batch-bodies.ts';
import type { Batches } from '../batches/batches.ts';
import { batchListParameters, coverageParameters, itemParameters, reportParameters } from '../batches/parameters.ts';
import type { ReadCsvBatch } from '../batches/read-csv-batch.ts';
import type { OpenBodies } from '../calls/admission.ts';
import type { Environment } from '../http/environment.ts';
import { takesNoParameters } from '../http/middleware.ts';
import { readParameters } from '../http/parameters.ts';
import { badRequest, json, problem } from '../http/respond.ts';
import { streamEvents } from '../http/until-gone.ts';
import { createBatch } from './create-batch.ts';

type BatchesDependencies = {
  batches: Batches;
  readCsvBatch: ReadCsvBatch;
  maxBodyBytes: number;
  openBodies: OpenBodies;
  stopping: AbortSignal;
};
type Found = Exclude<Awaited<ReturnType<Batches['read']>>, 'gone' | null>;

const writers = {
  junit: { write: junitReport, type: 'application/xml', extension: 'xml' },
  csv: { write: csvReport, type: 'text/csv; charset=utf-8', extension: 'csv' },
  json: { write: jsonReport, type: 'application/json', extension: 'json' },
  markdown: { write: markdownReport, type: 'text/markdown; charset=utf-8', extension: 'md' },
} as const;

/** Batches as a resource: create one, follow it, read its items and reports, cancel it. */
export function batchRoutes({ batches, readCsvBatch, maxBodyBytes, openBodies, stopping }: BatchesDependencies) {
  const withBatch =
    (answer: (found: Found, context: Context<Environment>) => Promise<Response> | Response) =>
    async (context: Context<Environment>) => {
      const batchId = context.req.param('batchId') ?? '';
      const found = await batches.read(batchId);
      const isIts = found !== null && (found === 'gone' || isFor(callerOf(context), found.batch.app));
      if (!isIts) return problem('unknown-batch', { batchId });
      if (found === 'gone') return problem('batch-gone', { batchId });
      tellAbout(context, found.batch);
      return answer(found, context);
    };

  return new Hono<Environment>()
    .post('/batches', needs('run'), (context) => {
      const lease = openBodies.lease();
      return createBatch(context, lease, { batches, readCsvBatch, maxBodyBytes }).finally(() => lease.close());
    })
    .get('/batches', needs('read'), (context) => list(context, batches))
    .get('/batches/:batchId', needs('read'), withBatch(show))
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
      takesNoParameters(),
      withBatch((found) => cancel(found, batches)),
    );
}

type Asked = Context<Environment>;

const show = (found: Found) => json(200, printAs(batchBodySchema, batchBody(found)));

async function list(context: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(batchListParameters, context);
  if (read.kind === 'bad') return badRequest(read.problems);
  const notIts = read.value.app === undefined ? undefined : refusedApp(context, read.value.app);
  if (notIts) return notIts;
  const page = await batches.list({ ...read.value, apps: callerOf(context).apps });
  if (page === null) return badRequest([problemAt('cursor', 'gone-cursor', {})]);
  return json(200, printAs(batchListSchema, { ...page, items: page.items.map((one) => batchBody(one)) }));
}

async function items({ batch }: Found, context: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(itemParameters, context);
  if (read.kind === 'bad') return badRequest(read.problems);
  const { include: withDetails, cursor, ...filter } = read.value;
  const hidden = batches.hiddenIn(batch, filter.where);
  if (hidden !== null) return badRequest([hidden]);
  if (filter.where.length > 0)
    context.set(
      'searchedPaths',
      filter.where.map(({ path }) => path),
    );
  if (withDetails || filter.where.length > 0) context.set('readsInput', true);
  const { items: found, next } = await batches.items(batch, { ...filter, details: withDetails, after: Number(cursor) });
  const decidedBy = batches.decidedBy(batch);
  const bodies = await Promise.all(
    found.map(async (one) =>
      withDetails ? detailedItemBody(batch, { ...one, decidedBy: await decidedBy(one) }) : itemBody(batch, one),
    ),
  );
  return json(200, printAs(itemListSchema, { items: bodies, nextCursor: next === null ? null : String(next) }));
}

async function item({ batch }: Found, context: Asked, batches: Batches): Promise<Response> {
  const { req } = context;
  const n = /^\d{1,6}$/.test(req.param('n') ?? '') ? Number(req.param('n')) : 0;
  context.set('readsInput', true);
  const found = await batches.item(batch, n);
  return found
    ? json(200, printAs(wholeItemSchema, wholeItemBody(batch, found)))
    : problem('unknown-item', { batchId: batch.batchId, n: `${req.param('n')}` });
}

async function coverage({ batch }: Found, context: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(coverageParameters, context);
  if (read.kind === 'bad') return badRequest(read.problems);
  return json(200, printAs(coverageSchema, await batches.coverage(batch, read.value.target)));
}

async function report(found: Found, context: Asked, batches: Batches): Promise<Response> {
  const read = readParameters(reportParameters, context);
  if (read.kind === 'bad') return badRequest(read.problems);
  const { write, type, extension } = writers[read.value.format];
  context.set('readsInput', true);
  const text = write({ ...reportedBatch(found), items: await batches.reported(found.batch) });
  const disposition = `attachment; filename="batch-${found.batch.batchId}.${extension}"`;
  return new Response(text, { headers: { 'content-type': type, 'content-disposition': disposition } });
}

function streamProgress(
  { batch: { batchId } }: Found,
  context: Asked,
  { batches, stopping }: Pick<BatchesDependencies, 'batches' | 'stopping'>,
): Response {
  return streamEvents(context, stopping, async (stream, gone) => {
    let event = 'snapshot';
    for await (const found of batches.follow(batchId, gone)) {
      await stream.writeSSE({ event, data: printAs(batchBodySchema, batchBody(found)) });
      event = 'progress';
    }
  });
}

async function cancel({ batch: { batchId }, progress }: Found, batches: Batches): Promise<Response> {
  const bodyOf = (state: 'cancelled' | 'cancelling') => printAs(cancelledBatchSchema, { batchId, state });
  if (progress.state === 'cancelled') return json(200, bodyOf('cancelled'));
  if (await batches.cancel(batchId)) return json(202, bodyOf('cancelling'));
  return problem('batch-ended', { batchId });
}
