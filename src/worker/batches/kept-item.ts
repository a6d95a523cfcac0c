import type { Batch, ItemDetail, ItemHead } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { itemOfAnswer, itemWithoutAnswer } from '../../shared/cases/item-of-answer.ts';
import { maskOutcome, withoutOutcome } from '../../shared/privacy/mask-item.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';
import type { ItemEnding } from './follow-items.ts';

type Item = { head: ItemHead; detail: ItemDetail | null };

/** The record of an item that ended: without hidden fields (MASK), and for some apps only how it ended (HISTORY_OFF). */
export function keptItem(
  one: Case,
  ending: ItemEnding,
  { batch, privacy }: { batch: Pick<Batch, 'app' | 'ignore'>; privacy: Privacy },
): Item {
  const { app, ignore } = batch;
  const item = itemOf(one, ending, ignore);
  if (privacy.isOff(app)) return { head: withoutOutcome(item.head, ending.kind === 'answered'), detail: null };
  const mask = privacy.maskFor(app);
  if (mask === null) return item;
  mask.data(one.input);
  if (ending.kind === 'answered') mask.answer(ending.body); // so that an error that quotes it is known
  return maskOutcome(item, mask);
}

function itemOf(one: Case, ending: ItemEnding, ignore: readonly string[]): Item {
  if (ending.kind === 'unanswered') return { head: itemWithoutAnswer(ending.noAnswer), detail: null };
  const { result, body, tookMs } = ending;
  const { success, decision = null, address, rules = null } = result;
  return itemOfAnswer(one, { body, success, decision, address, rules, tookMs }, ignore);
}
