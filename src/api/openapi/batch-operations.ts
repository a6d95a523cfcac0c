import { z } from 'zod';
import { batchStates, DEFAULT_CONCURRENCY, MAX_CONCURRENCY, MAX_ITEMS } from '../../shared/cases/batch.ts';
import { nodeStateNames } from '../../shared/cases/case.ts';
import { differenceSchema } from '../../shared/cases/difference.ts';
import { outcomeNames, verdictSchema } from '../../shared/cases/verdict.ts';
import { DATA_FIELD } from '../../shared/contract/job.ts';
import { batchListParameters, coverageParameters, itemParameters, reportParameters } from '../batches/parameters.ts';
import type { Operation } from './operation.ts';
import { badCall, badQuestion, refusal, unavailable, usual } from './refusals.ts';

const BATCHES = '/rule-server/mock/batches';
const batchId = '0d7e4b5a-7f52-4a36-9a55-6f1f0c2d9b1e';
const common = { tag: 'Batches' } as const;

const countsAnswer = z.object({
  passed: z.int(),
  failed: z.int(),
  error: z.int(),
  unanswered: z.int(),
  skipped: z.int(),
  pending: z.int(),
});
const batchAnswer = z
  .object({
    batchId: z.string(),
    app: z.int(),
    ruleId: z.int().nullable(),
    confId: z.int().nullable(),
    cases: z.int(),
    items: z.int(),
    concurrency: z.int(),
    stopAfterFailures: z.int().nullable(),
    keyName: z.string().nullable(),
    createdAt: z.int(),
    endedAt: z.int().nullable(),
    file: z.string().nullable(),
    etag: z.string().nullable(),
    from: z.string().nullable(),
    state: z.enum(batchStates),
    counts: countsAnswer,
    targets: z.array(z.object({ target: z.string(), counts: countsAnswer })),
  })
  .meta({ id: 'Batch' });
const itemAnswer = z
  .object({
    n: z.int(),
    name: z.string(),
    line: z.int().nullable(),
    target: z.string(),
    verdict: verdictSchema,
    outcome: z.enum(outcomeNames).nullable(),
    address: z.string().nullable(),
    code: z.string().nullable(),
    mayHaveRun: z.boolean(),
    error: z.string().nullable(),
    tookMs: z.number().nullable(),
    mockId: z.string().nullable(),
    differences: z.int(),
  })
  .meta({ id: 'BatchItem' });
const wholeItemAnswer = itemAnswer
  .extend({
    ts: z.int().nullable(),
    [DATA_FIELD]: z.looseObject({}),
    expect: z.looseObject({}).nullable(),
    changed: z.looseObject({}).nullable(),
    cut: z.boolean(),
    nodes: z.record(z.string(), z.array(z.string())).nullable(),
    differences: z.array(differenceSchema),
  })
  .meta({ id: 'WholeBatchItem' });
const stateAnswer = z.object({ batchId: z.string(), state: z.enum(batchStates) });

const expectation = z
  .object({
    outcome: z.enum(outcomeNames),
    data: z.looseObject({}).meta({
      description: 'A subset of the data after the run. `{"$any":true}` and `{"$approx":20,"$by":0.01}` are operators.',
    }),
    absent: z.array(z.string()).meta({ description: 'Paths that must not be there, such as `items[0].tax`.' }),
    nodes: z.record(z.string(), z.enum(nodeStateNames)),
    error: z.string(),
    withinMs: z.int(),
  })
  .partial();
const batchRequest = z
  .object({
    app: z.int().min(1),
    ruleId: z.int().nullable().optional(),
    confId: z.int().nullable().optional(),
    ts: z.int().nullable().optional(),
    targets: z.array(z.string()).optional().meta({
      description: '`all`, `lane:<lane>`, `address:<address>`, or `client:*` for each client that is online.',
    }),
    cases: z
      .array(
        z
          .object({
            name: z.string(),
            [DATA_FIELD]: z.looseObject({}),
            ts: z.int(),
            tags: z.array(z.string()),
            skip: z.boolean(),
            line: z.int(),
            expect: expectation,
          })
          .partial(),
      )
      .optional()
      .meta({ description: `What to run; with the targets at most ${MAX_ITEMS} runs.` }),
    saved: z.boolean().optional().meta({ description: '`true`: run the saved cases of the rule or node instead.' }),
    from: z.string().optional().meta({ description: 'Run cases of this batch again instead.' }),
    verdict: z
      .array(verdictSchema)
      .optional()
      .meta({ description: 'With `from`: only cases with one of these verdicts.' }),
    concurrency: z
      .int()
      .min(1)
      .max(MAX_CONCURRENCY)
      .default(DEFAULT_CONCURRENCY)
      .meta({ description: 'Open runs at one client, those of all batches together.' }),
    stopAfterFailures: z.int().min(1).optional(),
    file: z.string().optional().meta({ description: 'Where the cases come from, for reports.' }),
  })
  .meta({ id: 'BatchRequest' });

const counts = { passed: 1, failed: 1, error: 0, unanswered: 0, skipped: 0, pending: 0 };
const batch = {
  ...{ batchId, app: 9001, ruleId: 1, confId: null, cases: 1, items: 2, concurrency: 4, stopAfterFailures: null },
  ...{ keyName: null, createdAt: 1_790_000_000_000, endedAt: 1_790_000_001_000, file: null, etag: null, from: null },
  ...{ state: 'finished', counts },
  targets: [
    { target: 'all', counts: { ...counts, failed: 0 } },
    { target: 'lane:beta', counts: { ...counts, passed: 0 } },
  ],
};
const item = {
  ...{ n: 2, name: 'spends 100', line: null, target: 'lane:beta', verdict: 'failed', outcome: 'TRUE', address: 'vm_1' },
  ...{
    code: null,
    mayHaveRun: true,
    error: null,
    tookMs: 12,
    mockId: '2ecce912-bc72-8159-b6c0-da7bff77fd38',
    differences: 1,
  },
};
const difference = { path: 'data.coupon.amount', expected: '20', actual: '25', message: 'differs' };
const wholeItem = {
  ...item,
  ts: null,
  [DATA_FIELD]: { cost: 120.1 },
  expect: { data: { coupon: { amount: 20 } } },
  changed: { coupon: { amount: 25 } },
  cut: false,
  nodes: { 4: ['TRUE'] },
  differences: [difference],
};
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
