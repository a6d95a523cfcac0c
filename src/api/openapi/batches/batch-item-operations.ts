import { z } from 'zod';
import { coverageSchema, itemListSchema, wholeItemSchema } from '../../../shared/contract/batches.ts';
import { coverageParameters, itemParameters, reportParameters } from '../../batches/parameters.ts';
import { answer, type Operation } from '../operation.ts';
import { BATCHES, common, item, itemDetails, wholeItem } from './batch-examples.ts';

/** The operations on the items of a batch. */
export const batchItemOperations: Operation[] = [
  {
    ...common,
    path: `${BATCHES}/{batchId}/items`,
    id: 'listBatchItems',
    summary: 'List the items of a batch',
    query: itemParameters,
    queryExample: { verdict: 'failed' },
    answers: {
      200: answer('One page.', itemListSchema, {
        page: { items: [item], nextCursor: null },
        details: { items: [{ ...item, ...itemDetails }], nextCursor: null },
      }),
    },
  },
  {
    ...common,
    path: `${BATCHES}/{batchId}/items/{n}`,
    id: 'getBatchItem',
    summary: 'Read one item: its input, what was expected, and each difference',
    answers: {
      200: answer('The item.', wholeItemSchema, { failed: wholeItem }),
    },
  },
  {
    ...common,
    path: `${BATCHES}/{batchId}/coverage`,
    id: 'getBatchCoverage',
    summary: 'In how many cases each node ran, and to which states it came',
    query: coverageParameters,
    answers: {
      200: answer(
        'By node id. Outside its time window, or behind a condition that was FALSE, a node does not run. `unknown`: runs whose trace does not say.',
        coverageSchema,
        {
          coverage: {
            cases: 2,
            unknown: 0,
            nodes: { 1: { ran: 2, states: { TRUE: 2 } }, 4: { ran: 1, states: { TRUE: 1, OUT_OF_TIME: 1 } } },
          },
        },
      ),
    },
  },
  {
    ...common,
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
    },
  },
];
