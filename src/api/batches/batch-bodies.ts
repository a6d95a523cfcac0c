import { z } from 'zod';
import { type Batch, type BatchProgress, type ItemHead, placeOfItem } from '../../shared/cases/batch.ts';
import type { Case } from '../../shared/cases/case.ts';
import { noneSetAside, type SetAside, toldSetAside } from '../../shared/cases/document/refusal.ts';
import { itemMockId } from '../../shared/cases/item-id.ts';
import { DATA_FIELD } from '../../shared/contract/data-field.ts';
import { stringifyExact } from '../../shared/contract/json/raw-number.ts';
import { rulesOfRunSchema } from '../../shared/contract/rules-of-run.ts';
import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import { toldBatch } from '../../shared/reports/json.ts';
import { expectBody } from '../cases/case-bodies.ts';
import { MAX_LISTED_INPUT } from '../executions/list-executions.ts';
import type { ShownItem } from './shown-item.ts';

const rulesSchema = rulesOfRunSchema.nullable();

/** A batch as JSON text. `setAside`: what its request left out. */
export function batchBody(found: Found, setAside: SetAside = noneSetAside): string {
  const items = found.batch.cases * found.batch.targets.length;
  const leftOut = setAside.cases > 0 && { setAside: toldSetAside(setAside) };
  return stringifyExact({ ...toldBatch(found), items, ...leftOut });
}

type Found = { batch: Batch; progress: BatchProgress };
type DetailedItem = ShownItem & { n: number; decidedBy: NamedNode | null };
type Numbered = { n: number; head: ItemHead; one: Pick<Case, 'name' | 'line'> };

/** An item in a list. */
export function itemBody({ batchId, targets }: Batch, { n, head, one }: Numbered): string {
  const { caseIndex, targetIndex } = placeOfItem({ targets }, n);
  const target = targets[targetIndex] ?? 'all';
  const { claimBy, digest, differences, rules, ...rest } = head;
  const mockId = claimBy === null && head.verdict === 'pending' ? null : itemMockId(batchId, caseIndex, target);
  return stringifyExact({
    n,
    name: one.name,
    line: one.line,
    target,
    ...rest,
    mockId,
    rules: z.encode(rulesSchema, rules),
    differences,
  });
}

/** An item in a list, with what a table of items shows of its case, and the node that decided. */
export function detailedItemBody(batch: Batch, { n, head, one, detail, decidedBy }: DetailedItem): string {
  const isShort = one.input.length <= MAX_LISTED_INPUT;
  const parts = [
    `${JSON.stringify(DATA_FIELD)}:${isShort ? one.input : 'null'}`,
    `"expect":${expectBody(one.expect)}`,
    `"decidedBy":${JSON.stringify(decidedBy)}`,
    `"judged":${JSON.stringify({ differences: detail?.differences ?? [], notChecked: detail?.notChecked ?? [] })}`,
    `"of":${JSON.stringify(one.of ?? null)}`,
  ];
  return `${itemBody(batch, { n, head, one }).slice(0, -1)},${parts.join(',')}}`;
}

/** One item whole: its input, its expectation and its result. JSON texts stay as they are. */
export function wholeItemBody(batch: Batch, { n, head, one, detail, masked }: ShownItem & { n: number }): string {
  const short = itemBody(batch, { n, head, one });
  const { data = null, cut = false, nodes = null, differences = [], notChecked = [] } = detail ?? {};
  const parts = [
    `"ts":${one.ts ?? 'null'}`,
    `${JSON.stringify(DATA_FIELD)}:${one.input}`,
    `"expect":${expectBody(one.expect)}`,
    `"changed":${data ?? 'null'}`,
    `"cut":${cut}`,
    `"nodes":${JSON.stringify(nodes)}`,
    `"differences":${JSON.stringify(differences)}`,
    `"notChecked":${JSON.stringify(notChecked)}`,
    `"ignore":${JSON.stringify(batch.ignore)}`,
    `"masked":${JSON.stringify(masked)}`,
  ];
  return `${short.replace(/,"differences":\d+}$/, '')},${parts.join(',')}}`;
}
