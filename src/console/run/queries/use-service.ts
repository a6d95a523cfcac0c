import { QueryClient, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import {
  getApps,
  getCaller,
  getClients,
  getRules,
  getSchema,
  getTree,
  type Permission,
  type Selection,
} from '../../api/browse.ts';
import { getKept } from '../../api/executions.ts';
import { Refused, serviceNow } from '../../api/request.ts';
import { useText } from '../../text/use-text.tsx';

const CLIENTS_EVERY_MS = 4000;
const RULES_EVERY_MS = 15_000;
const CALLER_EVERY_MS = 60_000;
const AGAIN_AFTER_MS = 3000;

export function createQueries(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        retry: (count, error) => !(error instanceof Refused && error.status < 500) && count < 1,
        retryDelay: 500,
        networkMode: 'always', // the service may run on this very machine
        staleTime: 1000,
        // Whatever failed is asked for again by itself: nobody has to reload the page.
        refetchInterval: ({ state }) => (state.error ? AGAIN_AFTER_MS : false),
      },
    },
  });
}

/** Permissions of a key change without a restart of the service. */
export function useCaller() {
  return useQuery({
    queryKey: ['caller'],
    queryFn: ({ signal }) => getCaller(signal),
    staleTime: CALLER_EVERY_MS / 2,
    refetchInterval: ({ state }) => (state.error ? AGAIN_AFTER_MS : CALLER_EVERY_MS),
  });
}

export function useApps() {
  return useQuery({
    queryKey: ['apps'],
    queryFn: ({ signal }) => getApps(signal),
    // Somebody waits for the first one.
    refetchInterval: ({ state }) => (state.data?.length === 0 ? AGAIN_AFTER_MS : RULES_EVERY_MS),
  });
}

export function useRules(app: string | null) {
  return useQuery({
    queryKey: ['rules', app],
    queryFn: ({ signal }) => getRules(app ?? '', signal),
    enabled: app !== null,
    refetchInterval: ({ state }) => (state.error ? AGAIN_AFTER_MS : RULES_EVERY_MS),
  });
}

export function useClients(app: string | null) {
  return useQuery({
    queryKey: ['clients', app],
    queryFn: ({ signal }) => getClients(app ?? '', signal),
    enabled: app !== null,
    refetchInterval: CLIENTS_EVERY_MS,
  });
}

export const useTree = (selection: Selection | null) => useOfRule('tree', selection, getTree);
export const useSchema = (selection: Selection | null) => useOfRule('schema', selection, getSchema);

/** While another client is asked, or the rule is read again, what was known of it stays on the screen. */
function useOfRule<T>(
  name: string,
  selection: Selection | null,
  get: (selection: Selection, signal: AbortSignal) => Promise<T>,
) {
  return useQuery({
    queryKey: [name, selection] as const,
    queryFn: ({ signal }) => (selection ? get(selection, signal) : null),
    enabled: selection !== null,
    placeholderData: (previous, asked) => {
      const last = asked?.queryKey[1];
      const same =
        last?.app === selection?.app && last?.ruleId === selection?.ruleId && last?.confId === selection?.confId;
      return same ? previous : undefined;
    },
  });
}

const KEPT_AGAIN_MS = 60_000;

/** How much the service keeps, and how much it has room for. */
export function useKept() {
  return useQuery({
    queryKey: ['history', 'kept'],
    queryFn: ({ signal }) => getKept(signal),
    refetchInterval: KEPT_AGAIN_MS,
  });
}

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

const TICK_MS = 100;

/** The time, going on as long as it is looked at. */
export function useNow(ticking: boolean): number {
  const [now, setNow] = useState(serviceNow);
  useEffect(() => {
    if (!ticking) return;
    setNow(serviceNow());
    const timer = setInterval(() => setNow(serviceNow()), TICK_MS);
    return () => clearInterval(timer);
  }, [ticking]);
  return now;
}

/** Whether something has been going on for longer than `ms`. */
export function useLongerThan(goesOn: boolean, ms: number): boolean {
  const [isLong, setIsLong] = useState(false);
  useEffect(() => {
    setIsLong(false);
    if (!goesOn) return;
    const timer = setTimeout(() => setIsLong(true), ms);
    return () => clearTimeout(timer);
  }, [goesOn, ms]);
  return goesOn && isLong;
}

/** Says which permission is missing for something, or null where it may be done. Until it is known, the service decides. */
export function useLacks(): (permission: Permission) => string | null {
  const { say } = useText();
  const { data: caller } = useCaller();
  return (permission) =>
    caller === undefined || caller.may.has(permission) ? null : say('may.not', { name: caller.name ?? '', permission });
}
