import type { Batch, BatchProgress, ItemDetail, ItemHead } from '../cases/batch.ts';
import { differenceLine, notCheckedLines } from '../conclusions/words.ts';

/** One item as reports tell it. */
export type ReportedItem = Pick<
  ItemHead,
  'verdict' | 'outcome' | 'address' | 'code' | 'mayHaveRun' | 'error' | 'tookMs' | 'parting'
> &
  Pick<ItemDetail, 'differences' | 'notChecked'> & {
    n: number;
    name: string;
    line: number | null;
    target: string;
    mockId: string;
  };

/** `changed`: the members that the run added or changed, as JSON text; null when there are none, or `cut`. */
export type ItemWithData = ReportedItem &
  Pick<ItemHead, 'rules' | 'reason' | 'params'> & { changed: string | null; cut: boolean };

/** A batch with all its items, grouped by target in the order of the cases. */
export type Reported = { batch: Batch; progress: BatchProgress; items: ItemWithData[] };

/** What an item differs in, or why it failed or was not checked: one line for each reason. */
export function reasonsOf({
  verdict,
  error,
  code,
  mayHaveRun,
  differences,
  notChecked,
  parting,
}: ReportedItem): string[] {
  const ran = verdict !== 'unanswered' ? '' : mayHaveRun ? ' It may have run.' : ' It did not run.';
  const first = error === null ? [] : [`${code === null ? '' : `${code}: `}${error}${ran}`];
  const at = verdict === 'changed' && parting !== null ? [`first at #${parting.id} ${parting.name}`] : [];
  return [...first, ...differences.map(differenceLine), ...at, ...notCheckedLines(notChecked)];
}
