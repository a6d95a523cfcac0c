import { parseExact } from '../../shared/contract/exact-json.ts';
import {
  type Execution,
  type ExecutionRecord,
  eventsPath,
  getExecution,
  isEnd,
  readOutcome,
  readRecord,
  readStep,
} from './executions.ts';
import { field, text } from './read.ts';
import { Refused } from './request.ts';

/**
 * `live`: events arrive. `polling`: they do not, and asking every second is answered. `lost`: neither; the service was last heard
 * at `since`, epoch ms by this browser.
 */
export type Connection = { kind: 'live' } | { kind: 'polling' } | { kind: 'lost'; since: number };
export type Followed =
  | { kind: 'open'; record: ExecutionRecord; connection: Connection }
  | { kind: 'ended'; execution: Execution }
  /** The service does not know it (any more); `last` is what this page saw of it before. */
  | { kind: 'unknown'; last: ExecutionRecord | null }
  | { kind: 'unreachable' };

const POLL_MS = 1000;

/**
 * Follows an execution to its end by its events; while they are lost, by asking. Reports every change, and the end last. Returns
 * how to stop following, which stops nothing but the following.
 */
export function followExecution(mockId: string, report: (followed: Followed) => void): () => void {
  let record: ExecutionRecord | null = null;
  let connection: Connection = { kind: 'live' };
  let heardAt = Date.now();
  let over = false;
  let poll: ReturnType<typeof setTimeout> | undefined;
  const source = new EventSource(eventsPath(mockId));

  source.addEventListener('snapshot', (event) => update(readRecord(parseExact(event.data))));
  source.addEventListener('state', (event) => {
    if (!record) return;
    const value = parseExact(event.data);
    const step = readStep(value);
    if (record.history.some(({ state, at }) => state === step.state && at === step.at)) return;
    update({
      ...record,
      state: step.state,
      history: [...record.history, step],
      address: text(field(value, 'address')) ?? record.address,
      outcome: readOutcome(field(value, 'outcome')),
    });
  });
  source.addEventListener('open', () => {
    clearTimeout(poll);
    connection = { kind: 'live' };
    if (record) report({ kind: 'open', record, connection });
  });
  source.addEventListener('error', () => {
    if (over) return;
    connection = connection.kind === 'lost' ? connection : { kind: 'polling' };
    ask();
  });

  function update(next: ExecutionRecord): void {
    if (over) return;
    record = next;
    heardAt = Date.now();
    if (isEnd(next.state)) finish();
    else report({ kind: 'open', record, connection });
  }

  /** The texts come with the execution itself. */
  function finish(): void {
    source.close();
    clearTimeout(poll);
    getExecution(mockId).then(
      (execution) => end({ kind: 'ended', execution }),
      () => {
        if (!over) poll = setTimeout(ask, POLL_MS);
      },
    );
  }

  function ask(): void {
    clearTimeout(poll);
    if (over) return;
    getExecution(mockId).then(
      (execution) => {
        if (over) return;
        if (isEnd(execution.record.state)) return end({ kind: 'ended', execution });
        record = execution.record;
        heardAt = Date.now();
        if (connection.kind === 'live') return;
        connection = { kind: 'polling' };
        report({ kind: 'open', record, connection });
        poll = setTimeout(ask, POLL_MS);
      },
      (error) => {
        if (over) return;
        if (error instanceof Refused && error.status === 404) return end({ kind: 'unknown', last: record });
        connection = { kind: 'lost', since: heardAt };
        if (record) report({ kind: 'open', record, connection });
        else report({ kind: 'unreachable' });
        poll = setTimeout(ask, POLL_MS);
      },
    );
  }

  function end(last: Followed): void {
    if (over) return;
    stop();
    report(last);
  }

  function stop(): void {
    over = true;
    source.close();
    clearTimeout(poll);
  }

  return stop;
}
