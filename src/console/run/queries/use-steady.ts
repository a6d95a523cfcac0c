import { useEffect, useRef } from 'react';

type Query<T> = {
  data: T | undefined;
  error: Error | null;
  isPending: boolean;
  isLoading: boolean;
  errorUpdateCount: number;
};

/** The state of a query. `isLoading`: the first answer is on its way, and nothing failed yet. */
type Steady<T> = { data: T | undefined; error: Error | null; isPending: boolean; isLoading: boolean };

/** A query that failed keeps its failure while it is asked again: otherwise the page would go to and fro between the two. */
export function useSteady<T>({ data, error, isPending, isLoading, errorUpdateCount }: Query<T>): Steady<T> {
  const last = useRef<Error | null>(null);
  useEffect(() => {
    if (error) last.current = error;
  }, [error]);
  const failed = error ?? (isPending && errorUpdateCount > 0 ? last.current : null);
  return { data, error: failed, isPending: isPending && failed === null, isLoading: isLoading && failed === null };
}
