import { refusals } from '../../../shared/contract/endings/refusals.ts';
import { badQuestion, refusal, unavailable, usual } from '../refusals.ts';
import { batchId } from './batch-examples.ts';

/** The path of the batches. */
export const BATCHES = '/rule-server/mock/batches';

/** The tag of each operation on batches. */
export const common = { tag: 'Batches' } as const;
/** 404 of an id that was never given. */
export const unknownBatch = refusal(404, 'There is no such batch.', refusals.unknownBatch(batchId));
/** 410 of a batch that was kept once. */
export const goneBatch = refusal(410, 'It was kept once.', refusals.goneBatch(batchId));
/** 400 of a query. */
export const badParameter = badQuestion('A parameter is wrong.', {
  field: 'limit',
  message: 'must be a whole number from 1 to 1000',
});

/** The refusals of each operation on one batch. */
export const refusalsOfOne = { 404: unknownBatch, 410: goneBatch, 503: unavailable, ...usual };
