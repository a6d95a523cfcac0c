import type { Difference, WholeItem as ItemBody, ListedItem } from '../../shared/contract/batches.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { outcomeNames, type RanTo } from '../../shared/contract/verdict.ts';
import { memberOf, textOf } from '../../shared/json-tree/members.ts';
import { readJson } from '../../shared/json-tree/read-json.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { pathOf } from './batches.ts';
import { type Failure, getAs, withQuery } from './request.ts';
import * as shapes from './shapes.ts';

export type { Difference, RanTo };

type Body = Omit<
  ListedItem,
  typeof DATA_FIELD | 'expect' | 'judged' | 'line' | 'differences' | 'decidedBy' | 'of' | 'error' | 'reason' | 'params'
>;
/** One case on one target, in short. */
export type Item = Body & {
  /** Why it failed, or has no answer. */
  error: Failure | null;
  /** Its input as JSON text; null where it is long, or was not asked for. */
  input: string | null;
  /** The outcome that is expected of it. */
  expected: RanTo | null;
  /** The node that decided; null where that is not known, or was not asked for. */
  decidedBy: NamedNode | null;
  /** The run that it repeats. */
  of: string | null;
  /** How it differs from what is expected, or from that run; empty where it was not asked for. */
  differences: Difference[];
  /** What could not be checked, and why. */
  notChecked: WholeItem['notChecked'];
};

/** One item whole. `input`, `expect` and `changed` are JSON text as the service has it. */
export type WholeItem = Omit<ItemBody, typeof DATA_FIELD | 'error'> & { error: Failure | null; input: string };

/** In how many cases each node ran, by its id. `unknown`: runs whose trace does not say. */
type Coverage = { cases: number; unknown: number; nodes: ReadonlyMap<string, number> };

type ItemPage = { items: Item[]; next: number | null };

/** `details`: also the inputs, what is expected of them, and which nodes decided. */
type Asked = { after: number; limit: number; details?: boolean };

/** A page of items after a number, in their order. */
export async function getItems(
  batchId: string,
  { after, limit, details = false }: Asked,
  signal?: AbortSignal,
): Promise<ItemPage> {
  const include = details ? 'details' : null;
  const query = { cursor: String(after), limit: String(limit), include };
  const path = withQuery(`${pathOf(batchId)}/items`, query);
  const { items, nextCursor } = await getAs(path, shapes.items, signal);
  return { items: items.map(readItem), next: nextCursor === null ? null : Number(nextCursor) };
}

export async function getItem(batchId: string, n: string, signal?: AbortSignal): Promise<WholeItem> {
  const { [DATA_FIELD]: input, ...item } = await getAs(`${pathOf(batchId)}/items/${n}`, shapes.item, signal);
  return { ...item, input, error: failureIn(item) };
}

export async function getCoverage(batchId: string, target: string | null, signal?: AbortSignal): Promise<Coverage> {
  const body = await getAs(withQuery(`${pathOf(batchId)}/coverage`, { target }), shapes.coverage, signal);
  const ran = Object.entries(body.nodes).flatMap(([id, node]) => (node.ran > 0 ? [[id, node.ran] as const] : []));
  return { ...body, nodes: new Map(ran) };
}

function readItem({ [DATA_FIELD]: input = null, expect = null, judged, ...item }: ListedItem): Item {
  const { decidedBy = null, of = null } = item;
  const { differences, notChecked } = judged ?? { differences: [], notChecked: [] };
  return {
    ...item,
    error: failureIn(item),
    input,
    expected: outcomeIn(expect),
    decidedBy,
    of,
    differences,
    notChecked,
  };
}

const failureIn = ({
  error,
  reason,
  params,
  mayHaveRun,
}: Pick<ListedItem, 'error' | 'reason' | 'params' | 'mayHaveRun'>): Failure | null =>
  error === null ? null : { error, reason, params, mayHaveRun };

function outcomeIn(expect: string | null): RanTo | null {
  const read = expect === null ? null : readJson(expect);
  const outcome = read?.kind === 'ok' ? textOf(memberOf(read.root, 'outcome')) : null;
  return outcomeNames.find((each) => each === outcome) ?? null;
}
