import { useEffect, useState } from 'react';
import { type Execution, getExecution } from '../../api/executions.ts';
import { keep, knownRun } from './use-execution.ts';

const ASK_EVERY_MS = 500;
const AT_ONCE = 4;

/**
 * Several executions, asked for in turn until all have ended. Not by events: a browser holds six connections to a service, and
 * as many streams would keep every other call waiting.
 */
export function useExecutions(mockIds: readonly string[]): ReadonlyMap<string, Execution> {
  const [seen, setSeen] = useState<ReadonlyMap<string, Execution>>(new Map());
  const list = mockIds.join(',');
  useEffect(() => {
    const wanted = list === '' ? [] : list.split(',');
    const found = new Map<string, Execution>();
    const stopped = new AbortController();
    const ask = async (mockId: string) => {
      const execution = knownRun(mockId) ?? (await getExecution(mockId, stopped.signal).catch(() => null));
      if (execution) found.set(mockId, execution);
      if (execution && execution.record.ending !== null) keep(execution);
    };
    const askAll = async () => {
      while (!stopped.signal.aborted) {
        const open = wanted.filter((mockId) => !found.get(mockId)?.record.ending);
        if (open.length === 0) return;
        for (let first = 0; first < open.length; first += AT_ONCE)
          await Promise.all(open.slice(first, first + AT_ONCE).map(ask));
        if (stopped.signal.aborted) return;
        setSeen(new Map(found));
        await new Promise((resolve) => setTimeout(resolve, ASK_EVERY_MS));
      }
    };
    void askAll();
    return () => stopped.abort();
  }, [list]);
  return seen;
}
