import { differenceLine, notCheckedLines } from '../conclusions/words.ts';
import type { BatchReport } from '../contract/batches.ts';

/** What is told of an item. */
export type Told = Pick<
  BatchReport['items'][number],
  'verdict' | 'error' | 'code' | 'mayHaveRun' | 'differences' | 'notChecked' | 'parting'
>;

/** What an item differs in, or why it failed or was not checked: one line for each reason. */
export function reasonsOf(item: Told): string[] {
  const { verdict, error, code, mayHaveRun, differences, notChecked, parting } = item;
  const ran = verdict !== 'unanswered' ? '' : mayHaveRun ? ' It may have run.' : ' It did not run.';
  const first = error === null ? [] : [`${code === null ? '' : `${code}: `}${error}${ran}`];
  const at = verdict === 'changed' && parting !== null ? [`first at #${parting.id} ${parting.name}`] : [];
  return [...first, ...differences.map(differenceLine), ...at, ...notCheckedLines(notChecked)];
}
