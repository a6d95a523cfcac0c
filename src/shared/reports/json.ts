import { totalOf } from '../cases/batch.ts';
import { toldSetAside } from '../cases/document/refusal.ts';
import { joinMembers } from '../contract/json/exact-json.ts';
import { stringifyExact } from '../contract/json/raw-number.ts';
import type { ItemWithData, Reported } from './reported.ts';

/** A batch with its progress, as it is told: ids as the integers they are. */
export function toldBatch({ batch, progress }: Pick<Reported, 'batch' | 'progress'>) {
  const id = (text: string | null) => (text === null ? null : BigInt(text));
  const { v, once, ruleId, confId, targets, cases, setAside, ...rest } = batch;
  const { state, endedAt, counts } = progress;
  const ids = { ruleId: id(ruleId), confId: id(confId) };
  const byTarget = targets.map((target, index) => ({ target, counts: counts[index] }));
  const whole = { ...rest, ...ids, cases, state, endedAt, counts: totalOf(counts), targets: byTarget };
  return { ...whole, ...(setAside && { setAside: toldSetAside(setAside) }) };
}

/** The whole report as one JSON document. */
export function jsonReport(reported: Reported): string {
  const head = stringifyExact(toldBatch(reported)).slice(0, -1);
  return `${head},"items":[${reported.items.map(itemText).join(',')}]}\n`;
}

/** An item whose data stays as the client wrote it. */
function itemText({ changed, ...item }: ItemWithData): string {
  const members = Object.entries(item).map(([key, value]): [string, string] => [key, stringifyExact(value)]);
  return joinMembers([...members, ['changed', changed ?? 'null']]);
}
