import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type CasesOf, changeCases, getCases, type SavedCase, type SavedCases } from '../api/cases.ts';
import type { Place } from '../state/location.ts';

const EVERY_MS = 10_000;

/** The owner of saved cases: a rule or a node. A node inside of a rule has none of its own. */
export function casesOf({ app, ruleId, confId }: Pick<Place, 'app' | 'ruleId' | 'confId'>): CasesOf | null {
  if (app === null || (ruleId === null) === (confId === null)) return null;
  return { app, ruleId, confId };
}

/** The saved cases of a rule. Somebody else may change them: they are asked for again now and then. */
export function useSavedCases(of: CasesOf | null) {
  return useQuery({
    queryKey: keyOf(of),
    queryFn: ({ signal }) => (of ? getCases(of, signal) : { etag: null, cases: [] }),
    enabled: of !== null,
    refetchInterval: EVERY_MS,
  });
}

/** Changes the saved cases of a rule, and reads them again. The next change can be made at once: the page knows the new ETag. */
export function useChangeCases(): typeof changeCases {
  const queries = useQueryClient();
  return async (of, change) => {
    try {
      const etag = await changeCases(of, change);
      queries.setQueryData<SavedCases>(keyOf(of), (known) => known && { ...known, etag });
      return etag;
    } finally {
      void queries.invalidateQueries({ queryKey: keyOf(of) });
    }
  };
}

function keyOf(of: CasesOf | null) {
  return ['saved-cases', of?.app, of?.ruleId, of?.confId];
}

/** The names of cases that were added, changed or removed from one time to another. */
export function changedNames(before: readonly SavedCase[], now: readonly SavedCase[]): string[] {
  const [was, is] = [before, now].map((cases) => new Map(cases.map((one) => [one.name, JSON.stringify(one)])));
  const names = new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])]);
  return [...names].filter((name) => was?.get(name) !== is?.get(name));
}
