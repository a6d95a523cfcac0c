import { useQuery } from '@tanstack/react-query';
import { type CasesOf, getCases } from '../api/cases.ts';
import type { Place } from '../state/location.ts';

const EVERY_MS = 10_000;

/** Whose cases can be saved here: a rule's or a node's. A node inside of a rule has none of its own. */
export function casesOf({ app, ruleId, confId }: Pick<Place, 'app' | 'ruleId' | 'confId'>): CasesOf | null {
  if (app === null || (ruleId === null) === (confId === null)) return null;
  return { app, ruleId, confId };
}

/** The saved cases of a rule. Somebody else may change them: they are asked for again now and then. */
export function useSavedCases(of: CasesOf | null) {
  return useQuery({
    queryKey: ['saved-cases', of?.app, of?.ruleId, of?.confId],
    queryFn: ({ signal }) => (of ? getCases(of, signal) : { etag: null, cases: [] }),
    enabled: of !== null,
    refetchInterval: EVERY_MS,
  });
}
