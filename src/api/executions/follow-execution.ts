import { isEndState } from '../../shared/contract/endings/states.ts';
import type { ExecutionRecord } from '../../shared/contract/execution-record.ts';
import { time } from '../../shared/ports/time.ts';
import { cached, POLL_MS } from '../../shared/runtime/async.ts';
import type { PendingExecutions } from '../calls/pending-executions.ts';

const READS_WHILE_MISSING = 3;

type Find = (mockId: string) => Promise<ExecutionRecord | null>;

/** The record each time it has changed, the first at once, the last in an end state. Ends when `signal` aborts. */
export function createFollow(find: Find, { observe }: Pick<PendingExecutions, 'observe'>) {
  // One read serves all followers of an execution: however many there are, Redis is asked once at each change.
  const read = cached(0.8 * POLL_MS, find);

  return async function* follow(mockId: string, signal: AbortSignal): AsyncGenerator<ExecutionRecord> {
    read.forget(mockId); // nobody may have heard of changes since the last read
    let steps = 0;
    let missed = 0;
    let wake = () => {};
    const stop = observe(mockId, () => {
      read.forget(mockId); // all followers hear of a change before the first of them reads
      wake();
    });
    try {
      while (!signal.aborted) {
        const changed = new Promise<void>((resolve) => {
          wake = resolve;
        });
        const record = await read(mockId).catch(() => 'unreachable' as const); // the store comes back
        // Between queue and history a record is in neither for a moment.
        if (record === null && (steps === 0 || ++missed > READS_WHILE_MISSING)) return;
        if (record !== null && record !== 'unreachable') {
          if (record.history.length > steps) yield record;
          steps = Math.max(steps, record.history.length);
          if (isEndState(record.state)) return;
        }
        await Promise.race([changed, time.pause(POLL_MS, signal)]);
      }
    } finally {
      stop();
    }
  };
}
