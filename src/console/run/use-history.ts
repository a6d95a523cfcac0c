import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useRef, useState } from 'react';
import { getHistory, isEnd, type Listed } from '../api/executions.ts';

const POLL_MS = 4000;
const PAGE = 50;

/** `ruleId` null: of every rule of the app. */
type Scope = { app: string | null; ruleId: string | null };

/**
 * Earlier runs, the newest first. Only the newest page is asked for again: what has ended does not change, so older pages are
 * fetched once and kept.
 */
export function useHistory({ app, ruleId }: Scope) {
  const scope = `${app}/${ruleId}`;
  const queries = useQueryClient();
  const [kept, setKept] = useState<{ scope: string; items: ReadonlyMap<string, Listed> }>({ scope, items: new Map() });
  const cursor = useRef<{ scope: string; next: string | null } | null>(null);
  const [older, setOlder] = useState<'idle' | 'asking'>('idle');
  const newest = useQuery({
    queryKey: ['history', app, ruleId],
    queryFn: ({ signal }) => getHistory({ app: app ?? '', ruleId, limit: PAGE, cursor: null }, signal),
    enabled: app !== null,
    refetchInterval: POLL_MS,
  });

  const keep = useCallback(
    (items: readonly Listed[]) =>
      setKept((now) => {
        const all = new Map(now.scope === scope ? now.items : []);
        for (const item of items) all.set(item.mockId, item);
        return { scope, items: all };
      }),
    [scope],
  );
  useEffect(() => {
    if (!newest.data) return;
    keep(newest.data.items);
    if (cursor.current?.scope !== scope) cursor.current = { scope, next: newest.data.nextCursor };
  }, [newest.data, keep, scope]);

  const more = useCallback(async () => {
    const next = cursor.current?.scope === scope ? cursor.current.next : null;
    if (next === null) return;
    setOlder('asking');
    try {
      const page = await queries.fetchQuery({
        queryKey: ['older-runs', app, ruleId, next],
        queryFn: ({ signal }) => getHistory({ app: app ?? '', ruleId, limit: PAGE, cursor: next }, signal),
        staleTime: Number.POSITIVE_INFINITY,
      });
      keep(page.items);
      cursor.current = { scope, next: page.nextCursor };
    } catch {
      // The button stays and can be pressed again.
    }
    setOlder('idle');
  }, [app, ruleId, scope, queries, keep]);

  const listed = new Set(newest.data?.items.map(({ mockId }) => mockId));
  const items = kept.scope === scope ? [...kept.items.values()] : [];
  return {
    query: newest,
    // One that was open and is not listed any more was lost by the service.
    items: items.filter(({ mockId, state }) => isEnd(state) || listed.has(mockId)).sort(newestFirst),
    hasMore: cursor.current?.scope === scope && cursor.current.next !== null,
    isAsking: older === 'asking',
    more,
  };
}

function newestFirst(a: Listed, b: Listed): number {
  return (b.history[0]?.at ?? 0) - (a.history[0]?.at ?? 0);
}
