import { totalOf } from '../cases/batch.ts';
import { joinMembers } from '../contract/json/exact-json.ts';
import { stringifyExact } from '../contract/json/raw-number.ts';
import type { ItemWithData, Reported } from './reported.ts';

/** The whole report as one JSON document, ids as the integers they are. */
export function jsonReport({ batch, progress, items }: Reported): string {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  const { v, ruleId, confId, ...rest } = batch;
  const { state, endedAt, counts } = progress;
  const targets = batch.targets.map((target, index) => ({ target, counts: counts[index] }));
  const head = { ...rest, ruleId: id(ruleId), confId: id(confId), state, endedAt, targets, counts: totalOf(counts) };
  return `${stringifyExact(head).slice(0, -1)},"items":[${items.map(itemText).join(',')}]}\n`;
}

/** An item whose data stays as the client wrote it. */
function itemText({ changed, ...item }: ItemWithData): string {
  const members = Object.entries(item).map(([key, value]): [string, string] => [key, stringifyExact(value)]);
  return joinMembers([...members, ['changed', changed ?? 'null']]);
}
