import { z } from 'zod';
import { DATA_FIELD } from '../../shared/contract/job.ts';
import { batchListParameters, coverageParameters, itemParameters, reportParameters } from '../batches/parameters.ts';
import { batchAnswer, batchRequest, itemAnswer, stateAnswer, wholeItemAnswer } from './batch-answers.ts';
import { batch, batchId, item, wholeItem } from './batch-examples.ts';
import type { Operation } from './operation.ts';
import { badCall, badQuestion, refusal, unavailable, usual } from './refusals.ts';

const BATCHES = '/rule-server/mock/batches';
const common = { tag: 'Batches' } as const;
const unknown = refusal(404, 'Nobody knows this id.', `There is no batch ${batchId}.`);
const gone = refusal(410, 'It was kept once.', `Batch ${batchId} is not kept any more (BATCH_SECONDS, BATCH_BYTES).`);
const badParameter = badQuestion('A parameter is wrong.', {
  field: 'limit',
  message: 'must be a whole number from 1 to 1000',
});
const one = { 404: unknown, 410: gone, 503: unavailable, ...usual };

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
      'paths, `name` and `asOf`, and `app`, `ruleId` or `confId`, `targets` and `concurrency` are parameters.',
    headers: [
      {
        name: 'Idempotency-Key',
        description: 'The same call under the same key runs once.',
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
        schema: batchAnswer,
        examples: { running: { ...batch, state: 'running', endedAt: null } },
        headers: { Location: 'The batch.' },
      },
      400: badCall('A field is wrong; nothing runs.', {
        field: 'cases',
        message: 'give either cases, saved: true or from',
      }),
      404: unknown,
      410: gone,
      413: refusal(413, 'The body is too large.', 'The body is larger than 16777216 bytes (MAX_BATCH_BYTES).'),
      415: refusal(
        415,
        'A browser sent another type.',
        'A browser must send content-type: application/json or text/csv.',
      ),
      422: refusal(
        422,
        'The key was used for another body.',
        'This Idempotency-Key was used for a call with another body: use a new key for a new call.',
      ),
      503: unavailable,
      ...usual,
    },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
    path: BATCHES,
    id: 'listBatches',
    summary: 'List batches, the newest first',
    query: batchListParameters,
    queryExample: { app: 9001, ruleId: 1 },
    answers: {
      200: {
        description: 'At most a hundred.',
        schema: z.object({ items: z.array(batchAnswer) }),
        examples: { batches: { items: [batch] } },
      },
      400: badParameter,
      503: unavailable,
      ...usual,
    },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
    path: `${BATCHES}/{batchId}`,
    id: 'getBatch',
    summary: 'Read how far a batch is',
    answers: { 200: { description: 'The batch.', schema: batchAnswer, examples: { finished: batch } }, ...one },
  },
  {
    ...common,
    method: 'delete',
    needs: 'cancel',
    path: `${BATCHES}/{batchId}`,
    id: 'cancelBatch',
    summary: 'Cancel a batch',
    description:
      'What was not sent is skipped, what no client has picked up is cancelled, and what runs comes to its end.',
    answers: {
      200: {
        description: 'It had been cancelled before.',
        schema: stateAnswer,
        examples: { cancelled: { batchId, state: 'cancelled' } },
      },
      202: {
        description: 'It is being cancelled.',
        schema: stateAnswer,
        examples: { cancelling: { batchId, state: 'cancelling' } },
      },
      409: refusal(409, 'It has ended.', `Batch ${batchId} has ended already; it cannot be cancelled any more.`),
      ...one,
    },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
    path: `${BATCHES}/{batchId}/items`,
    id: 'listBatchItems',
    summary: 'List the items of a batch',
    query: itemParameters,
    queryExample: { verdict: 'failed' },
    answers: {
      200: {
        description: 'One page.',
        schema: z.object({ items: z.array(itemAnswer), nextCursor: z.string().nullable() }),
        examples: { page: { items: [item], nextCursor: null } },
      },
      400: badParameter,
      ...one,
    },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
    path: `${BATCHES}/{batchId}/items/{n}`,
    id: 'getBatchItem',
    summary: 'Read one item: its input, what was expected, and each difference',
    answers: { 200: { description: 'The item.', schema: wholeItemAnswer, examples: { failed: wholeItem } }, ...one },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
    path: `${BATCHES}/{batchId}/coverage`,
    id: 'getBatchCoverage',
    summary: 'How many cases reached each node',
    query: coverageParameters,
    answers: {
      200: {
        description: 'By node id. `unknown`: runs whose trace does not say.',
        schema: z.object({ cases: z.int(), unknown: z.int(), nodes: z.record(z.string(), z.int()) }),
        examples: { coverage: { cases: 2, unknown: 0, nodes: { 1: 2, 4: 1 } } },
      },
      400: badParameter,
      ...one,
    },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
    path: `${BATCHES}/{batchId}/report`,
    id: 'getBatchReport',
    summary: 'The report of a batch as JUnit, CSV, JSON or Markdown',
    query: reportParameters,
    queryExample: { format: 'junit' },
    answers: {
      200: {
        description: 'The report; its type follows the format.',
        mediaType: 'application/xml',
        otherMediaTypes: ['text/csv', 'application/json', 'text/markdown'],
        schema: z.string(),
        examples: { junit: '<testsuites/>' },
      },
      400: badParameter,
      ...one,
    },
  },
  {
    ...common,
    method: 'get',
    needs: 'read',
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
      ...one,
    },
  },
];
