import { type Batch, type BatchProgress, type ItemHead, placeOfItem, setAsideBody } from '../../shared/cases/batch.ts';
import { type Case, expectText } from '../../shared/cases/case.ts';
import { noneSetAside, type SetAside } from '../../shared/cases/document/refusal.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import type { BatchBody, ListedItem, WholeItem } from '../../shared/contract/batches.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { reportedBatch } from '../../shared/reports/json.ts';
import { MAX_LISTED_INPUT } from '../executions/list-executions.ts';
import type { ShownItem } from './shown-item.ts';

/** The body of a batch. `setAside`: what its request left out. */
export function batchBody(found: Found, setAside: SetAside = noneSetAside): BatchBody {
  const leftOut = setAside.cases > 0 && { setAside: setAsideBody(setAside) };
  return { ...reportedBatch(found), items: found.batch.cases * found.batch.targets.length, ...leftOut };
}

type Found = { batch: Batch; progress: BatchProgress };
type DetailedItem = ShownItem & { n: number; decidedBy: NamedNode | null };
type Numbered = { n: number; head: ItemHead; one: Pick<Case, 'name' | 'line'> };

/** An item in a list. */
export function itemBody(batch: Batch, { n, head, one }: Numbered) {
  const target = batch.targets[placeOfItem(batch, n).targetIndex] ?? 'all';
  const mockId = head.claimBy === null && head.verdict === 'pending' ? null : mockIdOf(batch, n);
  return { ...head, n, name: one.name, line: one.line, target, mockId };
}

/** The execution that runs an item. */
export function mockIdOf({ batchId, targets }: Pick<Batch, 'batchId' | 'targets'>, n: number): string {
  const { caseIndex, targetIndex } = placeOfItem({ targets }, n);
  return itemMockId(batchId, caseIndex, targets[targetIndex] ?? 'all');
}

/** An item in a list, with what a table of items shows of its case, and the node that decided. */
export function detailedItemBody(batch: Batch, { n, head, one, detail, decidedBy }: DetailedItem): ListedItem {
  return {
    ...itemBody(batch, { n, head, one }),
    [DATA_FIELD]: one.input.length <= MAX_LISTED_INPUT ? one.input : null,
    expect: expectText(one.expect),
    decidedBy,
    judged: { differences: detail?.differences ?? [], notChecked: detail?.notChecked ?? [] },
    of: one.of ?? null,
  };
}

/** One item whole: its input, its expectation and its result. JSON texts stay as they are. */
export function wholeItemBody(batch: Batch, { n, head, one, detail, masked }: ShownItem & { n: number }): WholeItem {
  const { data = null, cut = false, nodes = null, differences = [], notChecked = [] } = detail ?? {};
  return {
    ...itemBody(batch, { n, head, one }),
    ts: one.ts,
    [DATA_FIELD]: one.input,
    expect: expectText(one.expect),
    ...{ changed: data, cut, nodes, differences, notChecked },
    ignore: batch.ignore,
    masked,
  };
}
