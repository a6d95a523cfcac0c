import type { StateEvent } from '../../shared/contract/execution.ts';
import { type Execution, type ExecutionRecord, eventsPath, getExecution, isEnd } from './executions.ts';
import { readAs } from './read-answer.ts';
import { Refused } from './request.ts';
import * as shapes from './shapes.ts';

/**
 * `live`: events arrive. `polling`: they do not, and asking every second is answered. `lost`: neither; the service was last heard
 * at `since`, epoch ms by this browser.
 */
type Connection = { kind: 'live' } | { kind: 'polling' } | { kind: 'lost'; since: number };
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
  const following: Following = {
    mockId,
    report,
    source: new EventSource(eventsPath(mockId)),
    record: null,
    connection: { kind: 'live' },
    heardAt: Date.now(),
    isOver: false,
    poll: undefined,
  };
  listen(following);
  return () => stop(following);
}

/** The followed execution as far as it is known; `heardAt`: when the service last sent something. */
type Following = {
  mockId: string;
  report: (followed: Followed) => void;
  source: EventSource;
  record: ExecutionRecord | null;
  connection: Connection;
  heardAt: number;
  isOver: boolean;
  poll: ReturnType<typeof setTimeout> | undefined;
};

function listen(following: Following): void {
  const { source } = following;
  source.addEventListener('snapshot', ({ data }) => update(following, readAs(shapes.record, data)));
  source.addEventListener('state', ({ data }) => {
    const next = withStep(following.record, readAs(shapes.stateEvent, data));
    if (next) update(following, next);
  });
  source.addEventListener('open', () => {
    clearTimeout(following.poll);
    following.connection = { kind: 'live' };
    reportOpen(following);
  });
  source.addEventListener('error', () => {
    if (following.isOver) return;
    if (following.connection.kind !== 'lost') following.connection = { kind: 'polling' };
    ask(following);
  });
}

/** The record with the step that an event told; null when there is no record yet, or when it has the step already. */
function withStep(record: ExecutionRecord | null, { state, at, address, ending }: StateEvent): ExecutionRecord | null {
  if (!record || record.history.some((step) => step.state === state && step.at === at)) return null;
  const history = [...record.history, { state, at }];
  return { ...record, state, history, address: address ?? record.address, ending };
}

function update(following: Following, next: ExecutionRecord): void {
  if (following.isOver) return;
  following.record = next;
  following.heardAt = Date.now();
  if (isEnd(next.state)) finish(following);
  else reportOpen(following);
}

function reportOpen({ record, connection, report }: Following): void {
  if (record) report({ kind: 'open', record, connection });
}

/** The texts come with the execution itself. */
function finish(following: Following): void {
  following.source.close();
  clearTimeout(following.poll);
  getExecution(following.mockId).then(
    (execution) => end(following, { kind: 'ended', execution }),
    () => askLater(following),
  );
}

function ask(following: Following): void {
  clearTimeout(following.poll);
  if (following.isOver) return;
  getExecution(following.mockId).then(
    (execution) => onRead(following, execution),
    (error) => onUnread(following, error),
  );
}

function askLater(following: Following): void {
  if (!following.isOver) following.poll = setTimeout(() => ask(following), POLL_MS);
}

function onRead(following: Following, execution: Execution): void {
  if (following.isOver) return;
  if (isEnd(execution.record.state)) {
    end(following, { kind: 'ended', execution });
    return;
  }
  following.record = execution.record;
  following.heardAt = Date.now();
  if (following.connection.kind === 'live') return;
  following.connection = { kind: 'polling' };
  reportOpen(following);
  askLater(following);
}

function onUnread(following: Following, error: unknown): void {
  const { record, heardAt, report } = following;
  if (following.isOver) return;
  if (error instanceof Refused && (error.status === 404 || error.status === 410)) {
    end(following, { kind: 'unknown', last: record });
    return;
  }
  following.connection = { kind: 'lost', since: heardAt };
  if (record) reportOpen(following);
  else report({ kind: 'unreachable' });
  askLater(following);
}

function end(following: Following, last: Followed): void {
  if (following.isOver) return;
  stop(following);
  following.report(last);
}

function stop(following: Following): void {
  following.isOver = true;
  following.source.close();
  clearTimeout(following.poll);
}
