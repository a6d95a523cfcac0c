import type { Batch, BatchProgress, ItemHead } from '../cases/batch.ts';
import type { Difference } from '../cases/judging/difference.ts';

/** One item as reports tell it. */
export type ReportedItem = Pick<
  ItemHead,
  'verdict' | 'outcome' | 'address' | 'code' | 'mayHaveRun' | 'error' | 'tookMs'
> & {
  n: number;
  name: string;
  line: number | null;
  target: string;
  mockId: string;
  differences: Difference[];
};

/** `changed`: the members that the run added or changed, as JSON text; null when there are none, or `cut`. */
export type ItemWithData = ReportedItem & { changed: string | null; cut: boolean };

/** A batch with all its items, grouped by target in the order of the cases. */
export type Reported = { batch: Batch; progress: BatchProgress; items: ItemWithData[] };

/** A difference in one line. */
export function differenceLine({ path, expected, actual, message }: Difference): string {
  const values = [expected === null ? '' : `expected ${expected}`, actual === null ? '' : `found ${actual}`];
  const said = values.filter((part) => part !== '').join(', ');
  return `${path} ${message}${said ? `: ${said}` : ''}`;
}

/** Why an item did not pass, in one line for each reason. */
export function reasonsOf({ verdict, error, code, mayHaveRun, differences }: ReportedItem): string[] {
  const ran = verdict !== 'unanswered' ? '' : mayHaveRun ? ' It may have run.' : ' It did not run.';
  const first = error === null ? [] : [`${code === null ? '' : `${code}: `}${error}${ran}`];
  return [...first, ...differences.map(differenceLine)];
}
