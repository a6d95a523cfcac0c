import type { ItemDetail, ItemHead } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { maskCase, maskOutcome, withoutData } from '../../shared/privacy/mask-item.ts';
import type { Privacy } from '../../shared/privacy/privacy.ts';

type Whole = { one: Case; head: ItemHead; detail: ItemDetail | null };

/** An item as it may be shown. `masked`: the fields that are hidden in it, `*` for everything. */
export type ShownItem = Whole & { masked: string[] };

/** Workers keep items without hidden fields. Their cases are kept whole, because they may be run again. */
export function shownItem(
  { one, head, detail }: Whole,
  { app, privacy }: { app: number; privacy: Privacy },
): ShownItem {
  if (privacy.isOff(app)) return { one: withoutData(one), head, detail: null, masked: ['*'] };
  const mask = privacy.maskFor(app);
  if (mask === null) return { one, head, detail, masked: [] };
  const shown = { one: maskCase(one, mask), ...maskOutcome({ head, detail }, mask) };
  return { ...shown, masked: mask.hits() };
}

/** The case of an item as it may be shown. */
export function shownCase(one: Case, { app, privacy }: { app: number; privacy: Privacy }): Case {
  if (privacy.isOff(app)) return withoutData(one);
  const mask = privacy.maskFor(app);
  return mask === null ? one : maskCase(one, mask);
}
