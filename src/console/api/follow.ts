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

type Following = {
  mockId: string;
  report: (followed: Followed) => void;
  source: EventSource;
  record: ExecutionRecord | null;
  connection: Connection;
  heardAt: number;
  over: boolean;
  poll: ReturnType<typeof setTimeout> | undefined;
};

/**
 * Follows an execution to its end by its events; while they are lost, by asking. Reports every change, and the end last. Returns
 * how to stop following, which stops nothing but the following.
 */
export function followExecution(mockId: string, report: (followed: Followed) => void): () => void {
  const source = new EventSource(eventsPath(mockId));
  const following: Following = {
    ...{ mockId, report, source, record: null, over: false, poll: undefined },
    ...{ connection: { kind: 'live' }, heardAt: Date.now() },
  };
  source.addEventListener('snapshot', (event) => update(following, readRecord(parseExact(event.data))));
  source.addEventListener('state', (event) => addStep(following, parseExact(event.data)));
  source.addEventListener('open', () => {
    clearTimeout(following.poll);
    following.connection = { kind: 'live' };
    tell(following);
  });
  source.addEventListener('error', () => {
    if (following.over) return;
    if (following.connection.kind !== 'lost') following.connection = { kind: 'polling' };
    ask(following);
  });
  return () => stop(following);
}

function tell({ record, connection, report }: Following): void {
  if (record) report({ kind: 'open', record, connection });
}

function addStep(following: Following, value: ReturnType<typeof parseExact>): void {
  const { record } = following;
  if (!record) return;
  const step = readStep(value);
  if (record.history.some(({ state, at }) => state === step.state && at === step.at)) return;
  update(following, {
    ...record,
    state: step.state,
    history: [...record.history, step],
    address: text(field(value, 'address')) ?? record.address,
    outcome: readOutcome(field(value, 'outcome')),
  });
}

function update(following: Following, next: ExecutionRecord): void {
  if (following.over) return;
  following.record = next;
  following.heardAt = Date.now();
  if (isEnd(next.state)) finish(following);
  else tell(following);
}

/** The texts come with the execution itself. */
function finish(following: Following): void {
  following.source.close();
  clearTimeout(following.poll);
  getExecution(following.mockId).then(
    (execution) => end(following, { kind: 'ended', execution }),
    () => {
      if (!following.over) askLater(following);
    },
  );
}

function askLater(following: Following): void {
  following.poll = setTimeout(() => ask(following), POLL_MS);
}

function ask(following: Following): void {
  clearTimeout(following.poll);
  if (following.over) return;
  getExecution(following.mockId).then(
    (execution) => heard(following, execution),
    (error) => notHeard(following, error),
  );
}

function heard(following: Following, execution: Execution): void {
  if (following.over) return;
  if (isEnd(execution.record.state)) {
    end(following, { kind: 'ended', execution });
    return;
  }
  following.record = execution.record;
  following.heardAt = Date.now();
  if (following.connection.kind === 'live') return;
  following.connection = { kind: 'polling' };
  tell(following);
  askLater(following);
}

function notHeard(following: Following, error: unknown): void {
  const { over, record, report, heardAt } = following;
  if (over) return;
  if (error instanceof Refused && error.status === 404) {
    end(following, { kind: 'unknown', last: record });
    return;
  }
  following.connection = { kind: 'lost', since: heardAt };
  if (record) tell(following);
  else report({ kind: 'unreachable' });
  askLater(following);
}

function end(following: Following, last: Followed): void {
  if (following.over) return;
  stop(following);
  following.report(last);
}

function stop(following: Following): void {
  following.over = true;
  following.source.close();
  clearTimeout(following.poll);
}
