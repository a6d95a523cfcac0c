import { QueryClient, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getApps, getClients, getRules, getSchema, getTree, type Selection } from '../api/browse.ts';
import { getHistory } from '../api/executions.ts';
import { Refused } from '../api/request.ts';

const CLIENTS_EVERY_MS = 4000;
const RULES_EVERY_MS = 15_000;
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

export function useApps() {
  return useQuery({ queryKey: ['apps'], queryFn: ({ signal }) => getApps(signal), refetchInterval: RULES_EVERY_MS });
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

/** `version`: that of the released rules; a new one makes the page read the rule again. */
type Versioned = { selection: Selection | null; version: string | null };

export function useTree({ selection, version }: Versioned) {
  return useQuery({
    queryKey: ['tree', selection, version],
    queryFn: ({ signal }) => (selection ? getTree(selection, signal) : null),
    enabled: selection !== null,
    placeholderData: ofTheSameRule(selection),
  });
}

export function useSchema({ selection, version }: Versioned) {
  return useQuery({
    queryKey: ['schema', selection, version],
    queryFn: ({ signal }) => (selection ? getSchema(selection, signal) : null),
    enabled: selection !== null,
    placeholderData: ofTheSameRule(selection),
  });
}

type Asked = { queryKey: readonly [string, Selection | null, string | null] };

/** While another client is asked, or the rule is read again, what was known of it stays on the screen. */
function ofTheSameRule(selection: Selection | null) {
  return <T>(previous: T | undefined, asked: Asked | undefined): T | undefined => {
    const last = asked?.queryKey[1];
    const same =
      last?.app === selection?.app && last?.ruleId === selection?.ruleId && last?.confId === selection?.confId;
    return same ? previous : undefined;
  };
}

const HISTORY_PAGE = 20;

/** Earlier runs of a rule or node, the newest first. */
export function useHistory(app: string | null, { ruleId, confId }: { ruleId: string | null; confId: string | null }) {
  return useInfiniteQuery({
    queryKey: ['history', app, ruleId, confId],
    queryFn: ({ signal, pageParam }) =>
      getHistory({ app: app ?? '', ruleId, limit: HISTORY_PAGE, cursor: pageParam }, signal),
    initialPageParam: FIRST_PAGE,
    getNextPageParam: ({ nextCursor }) => nextCursor,
    select: ({ pages }) => ({ items: pages.flatMap(({ items }) => items).filter((item) => item.confId === confId) }),
    enabled: app !== null,
    refetchInterval: CLIENTS_EVERY_MS,
  });
}

const FIRST_PAGE: string | null = null;
