import { type UseQueryResult, useQueries } from '@tanstack/react-query';
import type { Execution } from '../../api/executions.ts';
import { fetchRun } from './use-execution.ts';

const ASK_EVERY_MS = 500;

/**
 * Several executions, asked for until all have ended. Not by events: a browser holds six connections to a service, and
 * as many streams would keep every other call waiting.
 */
export function useExecutions(mockIds: readonly string[]): ReadonlyMap<string, Execution> {
  return useQueries({
    queries: mockIds.map((mockId) => ({
      queryKey: ['execution', mockId],
      queryFn: ({ signal }: { signal: AbortSignal }) => fetchRun(mockId, signal),
      refetchInterval: ({ state }: { state: { data: Execution | undefined } }) =>
        state.data?.record.ending ? (false as const) : ASK_EVERY_MS,
    })),
    combine: byId,
  });
}

const byId = (found: readonly UseQueryResult<Execution>[]) =>
  new Map(found.flatMap(({ data }) => (data ? [[data.record.mockId, data]] : [])));
