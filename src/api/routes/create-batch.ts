import type { Context } from 'hono';
import type { SetAside } from '../../shared/cases/document/refusal.ts';
import { batchBodySchema } from '../../shared/contract/batches.ts';
import { printAs } from '../../shared/contract/wire.ts';
import { refusedApp, refusedPermission, tellAbout } from '../access/authenticate.ts';
import { batchBody } from '../batches/batch-bodies.ts';
import type { Batches } from '../batches/batches.ts';
import { batchBodyParameters, csvBatchParameters } from '../batches/parameters.ts';
import { type ReadBatch, readBatchRequest } from '../batches/read-batch-request.ts';
import type { ReadCsvBatch } from '../batches/read-csv-batch.ts';
import type { Taken } from '../batches/taken.ts';
import type { BodyLease } from '../calls/admission.ts';
import { idempotencyKeyOf, readBody } from '../calls/read-request.ts';
import type { Environment } from '../http/environment.ts';
import { readParameters } from '../http/parameters.ts';
import { badRequest, json, problem, refuseBody, respondToRefusal } from '../http/respond.ts';

type BatchDependencies = { batches: Batches; readCsvBatch: ReadCsvBatch; maxBodyBytes: number };

/** Answers `POST /batches`: reads the body, and runs the batch unless something is wrong with it. */
export async function createBatch(
  context: Context<Environment>,
  lease: BodyLease,
  { batches, readCsvBatch, maxBodyBytes }: BatchDependencies,
): Promise<Response> {
  const type = contentType(context);
  if (type === 'foreign') return problem('foreign-type', { types: 'application/json, text/csv' });
  const body = await readBody(context.env.incoming, maxBodyBytes, lease);
  if (body.kind !== 'complete') return refuseBody(body.kind, { maxBytes: maxBodyBytes, setting: 'MAX_BATCH_BYTES' });
  const read = type === 'csv' ? await readRows(context, body.bytes, readCsvBatch) : readDocument(context, body.bytes);
  if (read.kind === 'bad') return badRequest(read.problems);
  if (read.kind === 'refused') return respondToRefusal(read);
  const notIts = refusedApp(context, read.request.app);
  if (notIts) return notIts;
  const isRecorded = read.request.source.kind === 'recorded';
  const notAllowed = isRecorded ? refusedPermission(context, 'read') : undefined;
  if (notAllowed) return notAllowed;
  if (isRecorded) context.set('readsInput', true);
  const keyed = idempotencyKeyOf(context.req);
  if (keyed.kind === 'bad') return badRequest(keyed.problems);
  const key = keyed.kind === 'key' ? keyed.key : undefined;
  tellAbout(context, read.request);
  const maxRunning = context.var.maxBatches ?? Number.POSITIVE_INFINITY;
  const by = { keyName: context.var.keyName ?? null, maxRunning, key, call: callOf(context, body.bytes) };
  const taken = await batches.create(read.request, by);
  if (taken.kind === 'taken') tellAbout(context, { ...read.request, batchId: taken.batchId });
  return respondToTaken(taken, read.request.setAside, batches);
}

async function readRows(context: Context<Environment>, rows: Uint8Array, readCsvBatch: ReadCsvBatch) {
  const parameters = readParameters(csvBatchParameters, context);
  return parameters.kind === 'bad' ? parameters : readCsvBatch(rows, parameters.value);
}

function readDocument(context: Context<Environment>, document: Uint8Array): ReadBatch {
  const parameters = readParameters(batchBodyParameters, context);
  return parameters.kind === 'bad' ? parameters : readBatchRequest(document, parameters.value);
}

/** The bytes by which a call under an Idempotency-Key is known again: its parameters and its body; the body alone where it has no parameters. */
function callOf({ req }: Context<Environment>, body: Uint8Array): Uint8Array {
  const { search } = new URL(req.url);
  return search === '' ? body : Buffer.concat([Buffer.from(`${search}\n`), body]);
}

async function respondToTaken(taken: Taken, setAside: SetAside, batches: Batches): Promise<Response> {
  switch (taken.kind) {
    case 'bad':
      return badRequest(taken.problems);
    case 'other-body':
      return problem('key-reused', {});
    case 'refused':
      return respondToRefusal(taken);
    case 'taken': {
      const location = `/rule-server/mock/batches/${taken.batchId}`;
      const found = await batches.read(taken.batchId);
      const body =
        found === null || found === 'gone'
          ? JSON.stringify({ batchId: taken.batchId })
          : printAs(batchBodySchema, batchBody(found, setAside));
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
