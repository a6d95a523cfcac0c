import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { State } from '../../shared/contract/endings/states.ts';
import { executeBody } from '../../shared/contract/execute-body.ts';
import type { Failures, ListedExecution, Execution as WholeExecution } from '../../shared/contract/execution.ts';
import type { Decision } from '../../shared/reasoning/trace/node-trace.ts';
import { readAs } from './read-answer.ts';
import { getAs, Refused, request, withQuery } from './request.ts';
import * as shapes from './shapes.ts';

const BASE = '/rule-server/mock';

export type { Failures };
/** An earlier run, in a list with its input as JSON text and the node that decided. */
export type Listed = ListedExecution;
/** One execution without its texts. */
export type ExecutionRecord = Omit<ListedExecution, 'input'>;
export type RulesOfRun = ExecutionRecord['rules'];
/** One execution with its texts exactly as they were sent and written. */
export type Execution = WholeExecution & { record: ExecutionRecord };

export const isEnd = (state: State) => shapes.endStates.includes(state);

/** The body of an execute call. */
export type ExecuteCall = {
  app: string;
  ruleId: string | null;
  confId: string | null;
  ts: string | null;
  target: string;
  input: string;
  /** Without effects. */
  dryRun: boolean;
  /** The replacements of nodes, in a dry run. */
  stub: Readonly<Record<string, Decision>>;
  /** The comparison it is a part of, and the run it repeats; null for none. */
  comparisonId: string | null;
  derivedFrom: string | null;
};

/** The body of an execute call as JSON text, ids and input as they are. */
export function bodyOf({ input, stub, dryRun, ...call }: ExecuteCall): string {
  const stubs = dryRun && Object.keys(stub).length > 0 ? JSON.stringify(stub) : null;
  return executeBody({ ...call, [DATA_FIELD]: input.trim(), dryRun, stub: stubs });
}

/**
 * Begins an execution and names it; the same call under the same key is begun once, however often it is sent. A service that
 * does not answer before the rule has ended gives the same id, only later. Throws `Refused` when it was not begun.
 */
export async function beginExecution(call: ExecuteCall, key: string): Promise<string> {
  const answer = await begin(call, key).catch((error) => {
    // Ended without the client's answer, but known by its id: how it ended is told by the execution itself.
    if (error instanceof Refused && error.mockId !== null && error.status >= 500 && error.code !== null) {
      return getExecution(error.mockId).then(
        () => ({ text: JSON.stringify({ mockId: error.mockId }) }),
        () => Promise.reject(error),
      );
    }
    throw error;
  });
  return readAs(shapes.begun, answer.text).mockId;
}

function begin(call: ExecuteCall, key: string): Promise<{ text: string }> {
  const headers = { prefer: 'respond-async', 'idempotency-key': key };
  return request(`${BASE}/execute`, { method: 'POST', body: bodyOf(call), headers });
}

/** Asks for an execution to be stopped. One that has ended already is fine too. `keepalive`: also while the page is closed. */
export async function cancelExecution(mockId: string, { keepalive = false } = {}): Promise<void> {
  await request(pathOf(mockId), { method: 'DELETE', keepalive }).catch((error) => {
    if (!(error instanceof Refused) || error.status !== 409) throw error;
  });
}

export async function getExecution(mockId: string, signal?: AbortSignal): Promise<Execution> {
  const answer = await request(pathOf(mockId), signal ? { signal } : {});
  return readExecution(answer.text);
}

/** The same with the tree of its rules, as the service wrote it. */
export async function getExecutionText(mockId: string): Promise<string> {
  return (await request(withQuery(pathOf(mockId), { include: 'tree' }))).text;
}

/** Keeps a run until it is unpinned, or no longer than others. Throws `Refused` when there is no room for another one. */
export async function pinExecution(mockId: string, pinned: boolean): Promise<void> {
  await request(`${pathOf(mockId)}/pin`, { method: pinned ? 'PUT' : 'DELETE' });
}

/** How many runs are kept, since when, and how long one waits. */
export const getKept = (signal?: AbortSignal) => getAs(`${BASE}/kept`, shapes.kept, signal);
/** How long a run waits at the most, ms: for a worker to begin it, and for its client to answer. */
export type Waits = Awaited<ReturnType<typeof getKept>>['waits'];

/** The search options: see GET executions. */
export type RunSearch = {
  text: string;
  where: readonly string[];
  outcome: string | null;
  from: string | null;
  to: string | null;
  pinned: 'true' | null;
  by?: string;
  address?: string;
  lane?: string;
  code?: string;
  state?: string;
  comparisonId?: string;
};

/** A search that every run matches. */
export const everyRun: RunSearch = { text: '', where: [], outcome: null, from: null, to: null, pinned: null };

/** `include`: with the inputs and the nodes that decided. */
type HistoryQuery = {
  app: string;
  ruleId: string | null;
  limit: number;
  cursor: string | null;
  search: RunSearch | null;
  include?: 'details';
};

export function getHistory({ search, ...query }: HistoryQuery, signal?: AbortSignal) {
  const all = { include: null, ...query, ...search, limit: String(query.limit) };
  return getAs(withQuery(`${BASE}/executions`, all), shapes.executions, signal);
}

/** The failures among those that a search finds, those alike together. */
export function getFailures(
  { search, ...query }: { app: string; ruleId: string | null; search: RunSearch | null; cursor: string | null },
  signal?: AbortSignal,
) {
  return getAs(withQuery(`${BASE}/failures`, { ...query, ...search }), shapes.failures, signal);
}

export const eventsPath = (mockId: string) => `${pathOf(mockId)}/events`;

function pathOf(mockId: string): string {
  return `${BASE}/executions/${encodeURIComponent(mockId)}`;
}

export function readExecution(body: string): Execution {
  const execution = readAs(shapes.execution, body);
  return { ...execution, record: execution };
}
