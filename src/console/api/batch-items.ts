import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { parseExact, scanJson } from '../../shared/contract/json/exact-json.ts';
import { type ExactValue, stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { digits, field, flag, list, number, oneOf, text } from '../../shared/contract/json/read-exact.ts';
import { rulesOfRunSchema } from '../../shared/contract/rules-of-run.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { pathOf, type Verdict, verdicts } from './batches.ts';
import type { RulesOfRun } from './executions.ts';
import { type Failure, get, readFailure, request, withQuery } from './request.ts';

/** One case on one target, in short. */
export type Item = {
  n: number;
  name: string;
  target: string;
  verdict: Verdict;
  outcome: (typeof outcomes)[number] | null;
  address: string | null;
  code: string | null;
  mayHaveRun: boolean;
  error: Failure | null;
  tookMs: number | null;
  mockId: string | null;
  /** The rules that it ran on. */
  rules: RulesOfRun;
  /** Its input as JSON text; null where it is long, or was not asked for. */
  input: string | null;
  /** The outcome that is expected of it. */
  expected: (typeof outcomes)[number] | null;
  /** The node that decided; null where that is not known, or was not asked for. */
  decidedBy: NamedNode | null;
  /** Where its way and that of the run it is compared with part. */
  parting: NamedNode | null;
  /** The run that it repeats. */
  of: string | null;
  /** How it differs from what is expected, or from that run; empty where it was not asked for. */
  differences: Difference[];
};
export const outcomes = ['TRUE', 'FALSE', 'NONE', 'ERROR'] as const;

/** One way in which a run was not as expected; the values as JSON text, null where there is nothing. */
export type Difference = { path: string; expected: string | null; actual: string | null; message: string };

/** One item whole. `input`, `expect` and `changed` are JSON text as the service has it. */
export type WholeItem = Omit<Item, 'input'> & {
  ts: string | null;
  input: string;
  expect: string | null;
  changed: string | null;
  cut: boolean;
  /** Paths in the data that the batch does not compare. */
  ignore: string[];
};

/** In how many cases each node ran, by its id. `unknown`: runs whose trace does not say. */
type Coverage = { cases: number; unknown: number; nodes: ReadonlyMap<string, number> };

type ItemPage = { items: Item[]; next: number | null };

/** `details`: also the inputs, what is expected of them, and which nodes decided. */
type Asked = { after: number; limit: number; differs?: boolean; details?: boolean };

/** A page of items after a number, in their order. */
export function getItems(
  batchId: string,
  { after, limit, differs = false, details = false }: Asked,
  signal?: AbortSignal,
): Promise<ItemPage> {
  const include = details ? 'details' : null;
  const query = { cursor: String(after), limit: String(limit), differs: differs ? 'true' : null, include };
  const read = (answer: ExactValue): ItemPage => {
    const next = text(field(answer, 'nextCursor'));
    return { items: list(field(answer, 'items')).map(readItem), next: next === null ? null : Number(next) };
  };
  return get(withQuery(`${pathOf(batchId)}/items`, query), read, signal);
}

export async function getItem(batchId: string, n: string, signal?: AbortSignal): Promise<WholeItem> {
  const answer = await request(`${pathOf(batchId)}/items/${n}`, signal ? { signal } : {});
  const scanned = scanJson(answer.text);
  const raws = new Map(scanned.kind === 'complete' ? scanned.members.map(({ key, raw }) => [key, raw]) : []);
  const raw = (key: string) => {
    const found = raws.get(key);
    return found === undefined || found === 'null' ? null : found;
  };
  const value = parseExact(answer.text);
  return {
    ...readItem(value),
    ts: digits(field(value, 'ts')),
    input: raw(DATA_FIELD) ?? '{}',
    expect: raw('expect'),
    changed: raw('changed'),
    cut: flag(field(value, 'cut')),
    ignore: list(field(value, 'ignore')).flatMap((path) => text(path) ?? []),
    differences: list(field(value, 'differences')).map(readDifference),
  };
}

export function getCoverage(batchId: string, target: string | null, signal?: AbortSignal): Promise<Coverage> {
  const read = (answer: ExactValue): Coverage => {
    const nodes = field(answer, 'nodes');
    const ids = typeof nodes === 'object' && nodes !== null ? Object.keys(nodes) : [];
    return {
      cases: number(field(answer, 'cases')) ?? 0,
      unknown: number(field(answer, 'unknown')) ?? 0,
      nodes: new Map(
        ids.map((id) => [id, number(field(field(nodes, id), 'ran')) ?? 0] as const).filter(([, ran]) => ran > 0),
      ),
    };
  };
  return get(withQuery(`${pathOf(batchId)}/coverage`, { target }), read, signal);
}

function readItem(value: ExactValue): Item {
  return {
    n: number(field(value, 'n')) ?? 0,
    name: text(field(value, 'name')) ?? '',
    target: text(field(value, 'target')) ?? 'all',
    verdict: oneOf(field(value, 'verdict'), ['pending', ...verdicts]),
    outcome: outcomeIn(value),
    address: text(field(value, 'address')),
    code: text(field(value, 'code')),
    mayHaveRun: flag(field(value, 'mayHaveRun')),
    error: errorIn(value),
    tookMs: number(field(value, 'tookMs')),
    mockId: text(field(value, 'mockId')),
    rules: rulesOfRunSchema.nullable().parse(field(value, 'rules') ?? null),
    input: textIn(value, DATA_FIELD),
    expected: outcomeIn(field(value, 'expect')),
    decidedBy: readNamedNode(field(value, 'decidedBy')),
    parting: readNamedNode(field(value, 'parting')),
    of: text(field(value, 'of')),
    differences: list(field(field(value, 'judged'), 'differences')).map(readDifference),
  };
}

function errorIn(value: ExactValue): Failure | null {
  const error = text(field(value, 'error'));
  return error === null ? null : readFailure(value, error);
}

function outcomeIn(value: ExactValue | undefined): Item['outcome'] {
  return outcomes.find((outcome) => outcome === text(field(value, 'outcome'))) ?? null;
}

function readNamedNode(value: ExactValue | undefined): NamedNode | null {
  const [id, name] = [text(field(value, 'id')), text(field(value, 'name'))];
  return id === null || name === null ? null : { id, name };
}

/** A member as JSON text; null where there is none. */
function textIn(value: ExactValue, name: string): string | null {
  const found = field(value, name) ?? null;
  return found === null ? null : stringifyExact(found);
}

function readDifference(value: ExactValue): Difference {
  const valueText = (name: string) => {
    const found = field(value, name);
    return found === undefined || found === null ? null : typeof found === 'string' ? found : stringifyExact(found);
  };
  return {
    path: text(field(value, 'path')) ?? '',
    expected: valueText('expected'),
    actual: valueText('actual'),
    message: text(field(value, 'message')) ?? '',
  };
}
