import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { SearchProgress } from '../../../shared/contract/execution.ts';
import { type Failures, getFailures, getHistory, isEnd, type Listed, type RunSearch } from '../../api/executions.ts';
import { serviceNow } from '../../api/request.ts';
import { useZone } from '../../state/preferences.ts';
import { type HistoryFilter, noFilter, searchOf } from '../history/history-filter.ts';

const POLL_MS = 4000;
/** A search looks through many runs. */
const SEARCH_AGAIN_MS = 20_000;
const PAGE = 50;

/** `ruleId` null: of every rule of the app. `search` null: all of them. */
type Scope = { app: string | null; ruleId: string | null; search: RunSearch | null };

/**
 * Earlier runs, the newest first. Only the newest page is asked for again: what has ended does not change, so older pages are
 * fetched once and kept.
 */
export function useHistory({ app, ruleId, search }: Scope) {
  const scope = JSON.stringify([app, ruleId, search]);
  const ask = useCallback(
    (cursor: string | null, signal: AbortSignal) =>
      getHistory({ app: app ?? '', ruleId, search, limit: PAGE, cursor, include: 'details' }, signal),
    [app, ruleId, search],
  );
  const queries = useQueryClient();
  const [kept, setKept] = useState<KeptItems>({ scope: '', items: new Map() });
  const cursor = useRef<Cursor | null>(null);
  const [older, setOlder] = useState<'idle' | 'asking' | 'failed'>('idle');
  const newest = useQuery({
    queryKey: ['history', scope],
    queryFn: ({ signal }) => ask(null, signal),
    enabled: app !== null,
    refetchInterval: search === null ? POLL_MS : SEARCH_AGAIN_MS,
  });

  const keep = useCallback((items: readonly Listed[]) => setKept(withItems(scope, items)), [scope]);
  useEffect(() => {
    if (!newest.data) return;
    keep(newest.data.items);
    cursor.current = withNewest(cursor.current, scope, newest.data);
  }, [newest.data, keep, scope]);

  const more = useCallback(async () => {
    const next = cursor.current?.scope === scope ? cursor.current.next : null;
    if (next === null) return;
    setOlder('asking');
    try {
      const page = await queries.fetchQuery({
        queryKey: ['older-runs', scope, next],
        queryFn: ({ signal }) => ask(next, signal),
        staleTime: Number.POSITIVE_INFINITY,
      });
      keep(page.items);
      cursor.current = withOlder(cursor.current, scope, page);
      setOlder('idle');
    } catch {
      setOlder('failed'); // the button stays and can be pressed again
    }
  }, [ask, scope, queries, keep]);

  const listed = new Set(newest.data?.items.map(({ mockId }) => mockId));
  const items = kept.scope === scope ? [...kept.items.values()] : [];
  return {
    query: newest,
    // One that was open and is not listed any more was lost by the service.
    items: items.filter(({ mockId, state }) => isEnd(state) || listed.has(mockId)).sort(newestFirst),
    hasMore: cursor.current?.scope === scope && cursor.current.next !== null,
    isPending: kept.scope !== scope,
    isAsking: older === 'asking',
    /** The last page that was asked for did not come: it is asked for again only when a reader wants it. */
    hasFailed: older === 'failed',
    /** Of a search: how many runs it has been through, and back to when. */
    searched: cursor.current?.scope === scope ? cursor.current.searched : nothingSearched,
    more,
  };
}

type KeptItems = { scope: string; items: ReadonlyMap<string, Listed> };

const withItems = (scope: string, items: readonly Listed[]) => (now: KeptItems) => {
  const all = new Map(now.scope === scope ? now.items : []);
  for (const item of items) all.set(item.mockId, item);
  return { scope, items: all };
};

/** Where the list ends: `next` leads on. `seen`: the runs that it has had. */
type Cursor = { scope: string; next: string | null; searched: SearchProgress; seen: ReadonlySet<string> };
type Page = { items: readonly Listed[]; nextCursor: string | null; searched?: SearchProgress | undefined };

/** Of the newest page, come again below which older ones are kept: what is new on it was looked at, too; of others that are new it does not tell. */
function withNewest(before: Cursor | null, scope: string, { items, nextCursor: next, searched }: Page): Cursor {
  const isAll = next === null && before?.next === null;
  if (before?.scope !== scope || isAll)
    return { scope, next, searched: searched ?? nothingSearched, seen: idsOf(items) };
  const seen = idsOf(items, before.seen);
  const executions = before.searched.executions + seen.size - before.seen.size;
  return { ...before, searched: { ...before.searched, executions }, seen };
}

function withOlder(before: Cursor | null, scope: string, { items, nextCursor: next, searched }: Page): Cursor {
  return { scope, next, searched: searchedInAll(before?.searched, searched), seen: idsOf(items, before?.seen) };
}

const idsOf = (items: readonly Listed[], others: Iterable<string> = []) =>
  new Set([...others, ...items.map(({ mockId }) => mockId)]);

const nothingSearched: SearchProgress = { executions: 0, withoutInput: 0, until: null };

function searchedInAll(before: SearchProgress | undefined, page: SearchProgress | undefined): SearchProgress {
  const executions = (before?.executions ?? 0) + (page?.executions ?? 0);
  const withoutInput = (before?.withoutInput ?? 0) + (page?.withoutInput ?? 0);
  return { executions, withoutInput, until: page?.until ?? before?.until ?? null };
}

function newestFirst(a: Listed, b: Listed): number {
  return (b.history[0]?.at ?? 0) - (a.history[0]?.at ?? 0);
}

/** The search starts once typing has paused. */
const TYPED_MS = 300;
const MINUTE_MS = 60_000;

/** The search of a filter; null when it lets everything through. */
export function useSearch(filter: HistoryFilter): RunSearch | null {
  const [settled, setSettled] = useState(noFilter);
  const [now, setNow] = useState(serviceNow);
  const zone = useZone();
  useEffect(() => {
    const settle = () => {
      setSettled(filter);
      setNow(serviceNow());
    };
    if (filter === noFilter) return settle();
    const timer = setTimeout(settle, TYPED_MS);
    return () => clearTimeout(timer);
  }, [filter]);
  useEffect(() => {
    const timer = setInterval(() => setNow(serviceNow()), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  const minute = Math.floor(now / MINUTE_MS) * MINUTE_MS;
  return useMemo(() => searchOf(settled, minute, zone), [settled, minute, zone]);
}

const ASK_AGAIN_MS = 20_000;
/** One answer looks through thousands of runs. */
const MAX_ANSWERS = 100;

type Found = { groups: Failures[]; searched: number };

/** The failures among all runs that are kept, those alike together. */
export function useFailures({ app, ruleId, search }: Scope) {
  return useQuery({
    queryKey: ['history', 'failures', app, ruleId, search],
    queryFn: async ({ signal }) => {
      const found: Found = { groups: [], searched: 0 };
      let cursor: string | null = null;
      for (let answer = 0; answer < MAX_ANSWERS; answer++) {
        const page = await getFailures({ app: app ?? '', ruleId, search, cursor }, signal);
        found.groups = together(found.groups, page.items);
        found.searched += page.searched.executions;
        cursor = page.nextCursor;
        if (cursor === null) break;
      }
      return found;
    },
    enabled: app !== null,
    refetchInterval: ASK_AGAIN_MS,
  });
}

/** Answers come with the newest first. */
function together(newer: readonly Failures[], older: readonly Failures[]): Failures[] {
  const all = new Map(newer.map((group) => [keyOf(group), group]));
  for (const group of older) {
    const known = all.get(keyOf(group));
    all.set(keyOf(group), known === undefined ? group : joined(known, group));
  }
  return [...all.values()].sort((a, b) => b.count - a.count);
}

const keyOf = ({ code, sentence }: Failures) => JSON.stringify([code, sentence]);

function joined(newer: Failures, older: Failures): Failures {
  const clients = new Map(newer.clients.map(({ address, count }) => [address, count]));
  for (const { address, count } of older.clients) clients.set(address, (clients.get(address) ?? 0) + count);
  return {
    ...newer,
    count: newer.count + older.count,
    first: Math.min(newer.first, older.first),
    clients: [...clients].map(([address, count]) => ({ address, count })).sort((a, b) => b.count - a.count),
  };
}
