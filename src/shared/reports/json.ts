import { type Batch, type BatchProgress, noCounts, setAsideBody, totalOf } from '../cases/batch.ts';
import { type BatchBody, type BatchReport, batchReportSchema } from '../contract/batches.ts';
import { printAs } from '../contract/wire.ts';

/** The whole report as one JSON document, ids as the integers they are. */
export const jsonReport = (report: BatchReport): string => `${printAs(batchReportSchema, report)}\n`;

type Found = { batch: Batch; progress: BatchProgress };

/** A batch and how far it is, with the counts of its targets and of all. */
export function reportedBatch({ batch, progress: { state, endedAt, counts } }: Found): Omit<BatchBody, 'items'> {
  const { setAside, ...rest } = batch;
  const targets = batch.targets.map((target, index) => ({ target, counts: counts[index] ?? noCounts() }));
  const body = { ...rest, targets, state, endedAt, counts: totalOf(counts) };
  return { ...body, ...(setAside && { setAside: setAsideBody(setAside) }) };
}
