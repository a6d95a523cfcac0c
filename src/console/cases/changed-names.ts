import type { SavedCase } from '../api/cases.ts';

/** The names of cases that were added, changed or removed from one time to another. */
export function changedNames(before: readonly SavedCase[], now: readonly SavedCase[]): string[] {
  const [was, is] = [before, now].map((cases) => new Map(cases.map((one) => [one.name, JSON.stringify(one)])));
  const names = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...names].filter((name) => was?.get(name) !== is?.get(name));
}
