import type { StateEvent } from '../../shared/contract/execution.ts';
import { type Execution, type ExecutionRecord, eventsPath, getExecution, isEnd } from './executions.ts';
import { type Connection, follow } from './follow.ts';
import { readAs } from './read-answer.ts';
import * as shapes from './shapes.ts';

export type FollowedExecution =
  | { kind: 'open'; record: ExecutionRecord; connection: Connection }
  | { kind: 'ended'; execution: Execution }
  | { kind: 'unknown'; last: ExecutionRecord | null }
  | { kind: 'unreachable' };

/** `execution`: once it has ended. */
type Known = { record: ExecutionRecord; execution: Execution | null };

export function followExecution(mockId: string, report: (followed: FollowedExecution) => void): () => void {
  // Events have no input and no result: an execution that has ended is asked for whole.
  const heard = (record: ExecutionRecord) => (isEnd(record.state) ? 'ask' : { record, execution: null });
  return follow<Known>(
    {
      path: eventsPath(mockId),
      events: {
        snapshot: (data) => heard(readAs(shapes.record, data)),
        state: (data, last) => {
          const next = withStep(last?.record ?? null, readAs(shapes.stateEvent, data));
          return next && heard(next);
        },
      },
      ask: async () => {
        const execution = await getExecution(mockId);
        return { record: execution.record, execution: isEnd(execution.record.state) ? execution : null };
      },
      isOver: ({ execution }) => execution !== null,
    },
    (followed) => {
      if (followed.kind === 'unreachable') return report(followed);
      if (followed.kind === 'unknown') return report({ kind: 'unknown', last: followed.last?.record ?? null });
      const { record, execution } = followed.now;
      report(
        execution === null ? { kind: 'open', record, connection: followed.connection } : { kind: 'ended', execution },
      );
    },
  );
}

/** The record with the step that an event told; null when there is no record yet, or when it has the step already. */
function withStep(record: ExecutionRecord | null, { state, at, address, ending }: StateEvent): ExecutionRecord | null {
  if (!record || record.history.some((step) => step.state === state && step.at === at)) return null;
  const history = [...record.history, { state, at }];
  return { ...record, state, history, address: address ?? record.address, ending };
}
