import { badQuestion, refusal, unavailable, usual } from '../refusals.ts';
import { batchId } from './batch-examples.ts';

/** The path of the batches. */
export const BATCHES = '/rule-server/mock/batches';

/** The tag of each operation on batches. */
export const common = { tag: 'Batches' } as const;
/** 404 of an id that was never given. */
export const unknownBatch = refusal('There is no such batch.', 'unknown-batch', { batchId });
/** 410 of a batch that was kept once. */
export const goneBatch = refusal('It was kept once.', 'batch-gone', { batchId });
/** 400 of a query. */
export const badParameter = badQuestion('A parameter is wrong.', {
  field: 'limit',
  message: 'must be a whole number from 1 to 1000',
});

/** The refusals of each operation on one batch. */
export const refusalsOfOne = { 404: unknownBatch, 410: goneBatch, 503: unavailable, ...usual };
