import { totalOf } from '../cases/batch.ts';
import { stringifyExact } from '../contract/raw-number.ts';
import type { Reported } from './reported.ts';

/** The whole report as one JSON document, ids as the integers they are. */
export function jsonReport({ batch, progress, items }: Reported): string {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  const { v, ruleId, confId, ...rest } = batch;
  const { state, endedAt, counts } = progress;
  const targets = batch.targets.map((target, index) => ({ target, counts: counts[index] }));
  const head = { ...rest, ruleId: id(ruleId), confId: id(confId), state, endedAt, targets, counts: totalOf(counts) };
  return `${stringifyExact({ ...head, items })}\n`;
}
