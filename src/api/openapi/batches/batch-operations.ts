import { z } from 'zod';
import { batchBodySchema, batchListSchema, cancelledBatchSchema } from '../../../shared/contract/batches.ts';
import { DATA_FIELD } from '../../../shared/contract/data-field.ts';
import { problemAt } from '../../../shared/reasons/problems.ts';
import { batchBodyParameters, batchListParameters } from '../../batches/parameters.ts';
import { answer, type Operation } from '../operation.ts';
import { badCall, ofBatch, refusal } from '../refusals.ts';
import { BATCHES, batch, batchId, common } from './batch-examples.ts';
import { batchItemOperations } from './batch-item-operations.ts';
import { batchRequest } from './batch-request.ts';

/** Many inputs on one or more targets, each an ordinary execution. */
export const batchOperations: Operation[] = [
  {
    ...common,
    method: 'post',
    needs: 'run',
    path: BATCHES,
    id: 'runBatch',
    summary: 'Run many cases on one or more targets',
    description:
      'Real runs with real effects. The whole body is checked before anything runs. As `text/csv` the header holds input ' +
      'paths, `name` and `asOf`, and `app`, `ruleId` or `confId`, `targets`, `against`, `concurrency` and `dryRun` are parameters.',
    query: batchBodyParameters,
    headers: [
      {
        name: 'Idempotency-Key',
        description:
          'The same call under the same key runs once in 24 h, and leads to the same batch. If the queue store loses it, a repeat creates it again: items that ran within the last 20 minutes do not run again.',
        schema: z.string(),
        example: 'release-42',
      },
    ],
    body: {
      schema: batchRequest,
      examples: {
        lanes: {
          app: 9001,
          ruleId: 1,
          targets: ['all', 'lane:beta'],
          cases: [{ name: 'spends 100', [DATA_FIELD]: { cost: 120.1 }, expect: { outcome: 'TRUE' } }],
        },
      },
    },
    answers: {
      202: {
        description: 'It runs.',
        schema: batchBodySchema,
        examples: { running: { ...batch, state: 'running', endedAt: null } },
        headers: { Location: 'The batch.' },
      },
      400: badCall('A field is wrong; nothing runs.', problemAt('cases', 'one-source', {})),
      ...ofBatch,
      413: refusal('The body is too large.', 'body-too-large', { maxBytes: 16_777_216, setting: 'MAX_BATCH_BYTES' }),
      415: refusal('A browser sent another type.', 'foreign-type', {
        types: 'application/json, text/csv',
      }),
      422: refusal('The key was used for another body.', 'key-reused', {}, { mayHaveRun: false }),
    },
  },
  {
    ...common,
    path: BATCHES,
    id: 'listBatches',
    summary: 'List batches, the newest first',
    query: batchListParameters,
    queryExample: { app: 9001, ruleId: 1 },
    answers: {
      200: answer('A page of them.', batchListSchema, { batches: { items: [batch], nextCursor: null } }),
    },
  },
  {
    ...common,
    path: `${BATCHES}/{batchId}`,
    id: 'getBatch',
    summary: 'Read how far a batch is',
    answers: {
      200: answer('The batch.', batchBodySchema, { finished: batch }),
    },
  },
  {
    ...common,
    method: 'delete',
    needs: 'cancel',
    path: `${BATCHES}/{batchId}`,
    id: 'cancelBatch',
    summary: 'Cancel a batch',
    description:
      'Items that were not sent are skipped, those that no client has picked up are cancelled, and those that run come to their end.',
    answers: {
      200: answer('It had been cancelled before.', cancelledBatchSchema, {
        cancelled: { batchId, state: 'cancelled' },
      }),
      202: answer('It is being cancelled.', cancelledBatchSchema, { cancelling: { batchId, state: 'cancelling' } }),
      409: refusal('It has ended.', 'batch-ended', { batchId }),
    },
  },
  ...batchItemOperations,
  {
    ...common,
    path: `${BATCHES}/{batchId}/events`,
    id: 'followBatch',
    summary: 'Follow a batch as server-sent events',
    description: 'A `snapshot` first, then `progress` at most five times a second, until it has ended.',
    answers: {
      200: {
        description: 'The events.',
        mediaType: 'text/event-stream',
        schema: z.string(),
        examples: { snapshot: `event: snapshot\ndata: ${JSON.stringify(batch)}\n\n` },
      },
    },
  },
];
