import type { Difference } from '../contract/batches.ts';
import { differences } from '../reasons/remarks.ts';
import type { NotCompared } from './compare.ts';

type Parting = { id: string; name: string } | null;
/** What is told of an item that was compared with a run. */
type Changed = { verdict: string; differences: readonly Difference[]; parting: Parting };

/** The words of a difference; `what` is how it came out. */
type DifferenceWords = {
  what: (how: Difference['how']) => string;
  expected: (value: string) => string;
  found: (value: string) => string;
};
const english: DifferenceWords = {
  what: (how) => differences[how],
  expected: (value) => `expected ${value}`,
  found: (value) => `found ${value}`,
};

/** A difference in one line: `data.coupon.amount differs: expected 20, found 25`; from an earlier run `coupon.amount 20 → 25`. */
export const differenceLine = (difference: Difference): string => differenceIn(english, difference);

export function differenceIn(words: DifferenceWords, { path, expected, actual, how }: Difference): string {
  if (how === 'changed') return `${path.replace(/^data\.?/, '') || 'data'} ${expected ?? '–'} → ${actual ?? '–'}`;
  const values = [expected === null ? '' : words.expected(expected), actual === null ? '' : words.found(actual)];
  const said = values.filter((part) => part !== '').join(', ');
  return `${path} ${words.what(how)}${said ? `: ${said}` : ''}`;
}

/** What could not be checked, in one line for each reason. */
export function notCheckedLines(notChecked: readonly NotCompared[]): string[] {
  return [...Map.groupBy(notChecked, ({ why }) => why)].map(([why, all]) => {
    const parts = [...new Set(all.map(({ part }) => part))].join(', ');
    const nodes = [...new Set(all.flatMap((one) => one.nodes))].map((id) => `#${id}`).join(', ');
    return `not checked: ${parts}${reasonsNotChecked[why](nodes)}`;
  });
}

const reasonsNotChecked: Record<NotCompared['why'], (nodes: string) => string> = {
  'not-called': (nodes) => ` (a dry run does not call ${nodes})`,
  'not-told': (nodes) => ` (the trace does not say${nodes === '' ? '' : `, for ${nodes}`})`,
  hidden: () => ' (values are hidden)',
  'not-kept': () => ' (the run to compare with is not kept)',
};

/** Items that changed in the same way from the same node on. `what`: the values where all have them, else how many ways there are. */
type ChangeGroup<Item> = { id: string; what: string[]; parting: Parting; items: Item[] };

/** The changed items in groups, the largest first. */
export function changeGroups<Item extends Changed>(items: readonly Item[]): ChangeGroup<Item>[] {
  const changed = items.filter(({ verdict }) => verdict === 'changed');
  return [...Map.groupBy(changed, changeId)]
    .map(([id, all]) => ({ id, what: whatChanged(all), parting: all[0]?.parting ?? null, items: all }))
    .sort((a, b) => b.items.length - a.items.length);
}

function whatChanged(items: readonly Pick<Changed, 'differences'>[]): string[] {
  return (items[0]?.differences ?? []).map((first, index) => {
    const lines = new Set(items.map(({ differences }) => differenceLine(differences[index] ?? first)));
    return lines.size === 1
      ? differenceLine(first)
      : `${first.path.replace(/^data\.?/, '')} (${lines.size} different changes)`;
  });
}

/** The same for items that changed in the same way from the same node on, whatever the values are. */
export function changeId({ differences, parting }: Pick<Changed, 'differences' | 'parting'>): string {
  const keyOf = (difference: Difference) =>
    difference.path.startsWith('data') || difference.path === 'error' ? difference.path : differenceLine(difference);
  return JSON.stringify([differences.map(keyOf), parting?.id ?? null]);
}
