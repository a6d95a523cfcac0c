import { useQuery } from '@tanstack/react-query';
import { type Failures, getFailures, type RunSearch } from '../../api/executions.ts';

const ASK_AGAIN_MS = 20_000;
/** One answer looks through thousands of runs. */
const MAX_ANSWERS = 100;

type Scope = { app: string | null; ruleId: string | null; search: RunSearch | null };
type Found = { groups: Failures[]; looked: number };

/** The failures among all runs that are kept, those alike together. */
export function useFailures({ app, ruleId, search }: Scope) {
  return useQuery({
    queryKey: ['history', 'failures', app, ruleId, search],
    queryFn: async ({ signal }) => {
      const found: Found = { groups: [], looked: 0 };
      let cursor: string | null = null;
      for (let answer = 0; answer < MAX_ANSWERS; answer++) {
        const page = await getFailures({ app: app ?? '', ruleId, search, cursor }, signal);
        found.groups = together(found.groups, page.items);
        found.looked += page.looked.executions;
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
