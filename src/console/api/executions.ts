import { states } from '../../shared/contract/endings/state-names.ts';
import { parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { digits, field, flag, list, number, oneOf, text } from '../../shared/contract/json/read-exact.ts';
import type { Decision } from '../../shared/reasoning/trace/mark.ts';
import { get, Refused, request, withQuery } from './request.ts';

const BASE = '/rule-server/mock';

type State = (typeof states)[number];
type Step = { state: State; at: number };
type Outcome = { status: number; code: string | null; mayHaveRun: boolean };
/** How long each part of an execution took, in ms; null for a part that has not ended or was not seen. */
type Timings = { queued: number | null; pickUp: number | null; running: number | null; noticing: number | null };
export type Warning = { code: string; message: string; nodeId: string | null };

/** One execution without its texts. */
export type ExecutionRecord = {
  mockId: string;
  app: string;
  ruleId: string | null;
  confId: string | null;
  ts: string | null;
  target: string;
  /** The API key or person that asked for it. */
  keyName: string | null;
  address: string | null;
  lane: string | null;
  state: State;
  history: Step[];
  timings: Timings;
  /** The result of the rule, by its trace. */
  decision: Decision | null;
  warnings: Warning[];
  outcome: Outcome | null;
  /** It had no effects. */
  dryRun: boolean;
  /** The comparison it is a part of, and the run it repeats. */
  comparisonId: string | null;
  derivedFrom: string | null;
  /** The rules it ran on; null when it was not sent, and when it was kept before rules were. */
  rules: RulesOfRun;
};
export type RulesOfRun = {
  released: string | null;
  loaded: string | null;
  digest: string | null;
  /** The client's answer itself said `loaded` and `digest`. */
  told: boolean;
  /** The files had changed without a new version. */
  unsure: boolean;
  /** Another version was released before the answer came. */
  about: boolean;
} | null;

/** One execution with its texts exactly as they were sent and written; null where there is none. */
export type Execution = {
  record: ExecutionRecord;
  input: string | null;
  result: string | null;
  lateResult: string | null;
  /** The beginning of what the client wrote, where that is no result. */
  written: string | null;
  /** The fields that are hidden in these texts. */
  masked: string[];
  /** It is kept until somebody unpins it; else until then at the latest, epoch ms. */
  pinned: boolean;
  keptUntil: number | null;
};

export const isEnd = (state: State) => !['queued', 'dispatched', 'picked-up'].includes(state);

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
export function executeBody({
  app,
  ruleId,
  confId,
  ts,
  target,
  input,
  dryRun,
  stub,
  comparisonId,
  derivedFrom,
}: ExecuteCall): string {
  const members = [
    `"app":${app}`,
    ...(ruleId === null ? [] : [`"ruleId":${ruleId}`]),
    ...(confId === null ? [] : [`"confId":${confId}`]),
    ...(ts === null ? [] : [`"ts":${ts}`]),
    `"the service":${input.trim()}`,
    `"target":${JSON.stringify(target)}`,
    ...(dryRun ? ['"dryRun":true'] : []),
    ...(dryRun && Object.keys(stub).length > 0 ? [`"stub":${JSON.stringify(stub)}`] : []),
    ...(comparisonId === null ? [] : [`"comparisonId":${JSON.stringify(comparisonId)}`]),
    ...(derivedFrom === null ? [] : [`"derivedFrom":${JSON.stringify(derivedFrom)}`]),
  ];
  return `{${members.join(',')}}`;
}

/**
 * Begins an execution and names it; the same call under the same key is begun once, however often it is sent. A service that
 * does not answer before the rule has ended gives the same id, only later. Throws `Refused` when it was not begun.
 */
export async function beginExecution(call: ExecuteCall, key: string): Promise<string> {
  const answer = await begin(call, key).catch((error) => {
    // Ended without the client's answer, but known by its id: how it ended is told by the execution itself.
    if (error instanceof Refused && error.mockId !== null && error.status >= 500 && error.code !== null) {
      return getRecord(error.mockId).then(
        () => ({ text: JSON.stringify({ mockId: error.mockId }) }),
        () => Promise.reject(error),
      );
    }
    throw error;
  });
  const mockId = text(field(parseExact(answer.text), 'mockId'));
  if (mockId === null) throw new Error('The service answered without an execution id.');
  return mockId;
}

function begin(call: ExecuteCall, key: string): Promise<{ text: string }> {
  const headers = { prefer: 'respond-async', 'idempotency-key': key };
  return request(`${BASE}/execute`, { method: 'POST', body: executeBody(call), headers });
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

/** Keeps a run until it is unpinned, or no longer than others. Throws `Refused` when there is no room for another one. */
export async function pinExecution(mockId: string, pinned: boolean): Promise<void> {
  await request(`${pathOf(mockId)}/pin`, { method: pinned ? 'PUT' : 'DELETE' });
}

/**
 * How many runs are kept, and when the one that is evicted next ended, epoch ms; null where that is not told. `bytesOfBatches`: the room for
 * runs of batches.
 */
type Kept = {
  runs: number | null;
  oldest: number | null;
  bytesOfBatches: number;
  waits: Waits;
};
/** How long a run waits at the most, ms: for a worker to begin it, and for its client to answer. */
export type Waits = { worker: number; client: number };

export function getKept(signal?: AbortSignal): Promise<Kept> {
  const read = (answer: ExactValue): Kept => ({
    runs: number(field(answer, 'executions')),
    oldest: number(field(answer, 'oldest')),
    bytesOfBatches: (number(field(field(answer, 'limits'), 'bytes')) ?? 0) / 2,
    waits: {
      worker: number(field(field(answer, 'waits'), 'worker')) ?? 0,
      client: number(field(field(answer, 'waits'), 'client')) ?? 0,
    },
  });
  return get(`${BASE}/kept`, read, signal);
}

function getRecord(mockId: string): Promise<ExecutionRecord> {
  return getExecution(mockId).then(({ record }) => record);
}

/** An earlier run with its input as JSON text, null when the list does not have it. */
export type Listed = ExecutionRecord & { input: string | null };
/**
 * `looked`: of a search, how many runs it has been through, of how many of them no input could be searched, and when the last of them ended,
 * epoch ms.
 */
type HistoryPage = {
  items: Listed[];
  nextCursor: string | null;
  looked: { executions: number; withoutInput: number; until: number | null } | null;
};
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

export function getHistory(
  {
    search,
    ...query
  }: { app: string; ruleId: string | null; limit: number; cursor: string | null; search: RunSearch | null },
  signal?: AbortSignal,
): Promise<HistoryPage> {
  const read = (answer: ExactValue): HistoryPage => ({
    items: list(field(answer, 'items')).map((item) => ({ ...readRecord(item), input: inputOf(field(item, 'input')) })),
    nextCursor: text(field(answer, 'nextCursor')),
    looked: readLooked(field(answer, 'looked')),
  });
  const all = { ...query, ...search, limit: String(query.limit), include: 'input' };
  return get(withQuery(`${BASE}/executions`, all), read, signal);
}

function readLooked(looked: ExactValue | undefined): HistoryPage['looked'] {
  if (!looked) return null;
  const count = (name: string) => number(field(looked, name)) ?? 0;
  return {
    executions: count('executions'),
    withoutInput: count('withoutInput'),
    until: number(field(looked, 'until')),
  };
}

function inputOf(input: ExactValue | undefined): string | null {
  return input === undefined || input === null ? null : stringifyExact(input);
}

export const eventsPath = (mockId: string) => `${pathOf(mockId)}/events`;

function pathOf(mockId: string): string {
  return `${BASE}/executions/${encodeURIComponent(mockId)}`;
}

/** Splits an execution's answer: its texts stay the characters they are. */
export function readExecution(body: string): Execution {
  const scanned = scanJson(body);
  if (scanned.kind !== 'complete') throw new Error('The service wrote an execution that is not JSON.');
  const raws = new Map(scanned.members.map(({ key, raw }) => [key, raw]));
  const raw = (key: string) => {
    const found = raws.get(key);
    return found === undefined || found === 'null' ? null : found;
  };
  const texts = new Set(['input', 'result', 'lateResult', 'written', 'masked']);
  const rest = [...raws].filter(([key]) => !texts.has(key)).map(([key, value]) => `${JSON.stringify(key)}:${value}`);
  return {
    record: readRecord(parseExact(`{${rest.join(',')}}`)),
    input: raw('input'),
    result: raw('result'),
    lateResult: raw('lateResult'),
    written: text(parseExact(raw('written') ?? 'null')),
    masked: list(parseExact(raw('masked') ?? '[]')).flatMap((path) => text(path) ?? []),
    pinned: raw('pinned') === 'true',
    keptUntil: number(parseExact(raw('keptUntil') ?? 'null')),
  };
}

export function readRecord(value: ExactValue): ExecutionRecord {
  return {
    mockId: text(field(value, 'mockId')) ?? '',
    app: digits(field(value, 'app')) ?? '',
    ruleId: digits(field(value, 'ruleId')),
    confId: digits(field(value, 'confId')),
    ts: digits(field(value, 'ts')),
    target: text(field(value, 'target')) ?? 'all',
    keyName: text(field(value, 'keyName')),
    address: text(field(value, 'address')),
    lane: text(field(value, 'lane')),
    state: oneOf(field(value, 'state'), states),
    history: list(field(value, 'history')).map(readStep),
    timings: readTimings(field(value, 'timings')),
    decision: decisions.find((decision) => decision === text(field(value, 'decision'))) ?? null,
    warnings: list(field(value, 'warnings')).map((warning) => ({
      code: text(field(warning, 'code')) ?? '',
      message: text(field(warning, 'message')) ?? '',
      nodeId: text(field(warning, 'nodeId')),
    })),
    outcome: readOutcome(field(value, 'outcome')),
    dryRun: flag(field(value, 'dryRun')),
    comparisonId: text(field(value, 'comparisonId')),
    derivedFrom: text(field(value, 'derivedFrom')),
    rules: readRulesOfRun(field(value, 'rules')),
  };
}

export function readRulesOfRun(rules: ExactValue | undefined): RulesOfRun {
  if (!rules) return null;
  const [released, loaded] = [digits(field(rules, 'released')), digits(field(rules, 'loaded'))];
  const is = (name: string) => flag(field(rules, name));
  return {
    ...{ released, loaded, digest: text(field(rules, 'digest')) },
    ...{ told: is('told'), unsure: is('unsure'), about: is('about') },
  };
}

const decisions = ['TRUE', 'FALSE', 'NONE'] as const;

function readTimings(timings: ExactValue | undefined): Timings {
  const ms = (name: string) => number(field(timings, name));
  return { queued: ms('queued'), pickUp: ms('pickUp'), running: ms('running'), noticing: ms('noticing') };
}

export function readStep(step: ExactValue): Step {
  return { state: oneOf(field(step, 'state'), states), at: number(field(step, 'at')) ?? 0 };
}

export function readOutcome(outcome: ExactValue | undefined): Outcome | null {
  if (!outcome) return null;
  return {
    status: number(field(outcome, 'status')) ?? 0,
    code: text(field(outcome, 'code')),
    mayHaveRun: flag(field(outcome, 'mayHaveRun')),
  };
}
