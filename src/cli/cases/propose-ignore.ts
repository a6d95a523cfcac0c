import { withoutNoise } from '../../shared/cases/judging/noise.ts';
import { differingPaths } from '../../shared/conclusions/differing-values.ts';
import type { BatchReport } from '../../shared/contract/batches.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';

type Item = BatchReport['items'][number];

/**
 * Compares two runs of the same cases on one target, and writes `ignore` of their document as lines of YAML: the paths that it ignores already,
 * and those at which the data of the second run differed. Cases with another outcome are named, because that is no noise.
 */
export function proposeIgnore(first: BatchReport, second: BatchReport, ignored: readonly string[]): string[] {
  const paths = new Set<string>();
  const unsteady: string[] = [];
  for (const [index, item] of first.items.entries()) {
    const again = second.items[index];
    const [before, after] = [endOf(item), endOf(again)];
    if (before !== after) unsteady.push(`# ${item.name} came to ${before}, then to ${after}: this is no noise`);
    else if (item.outcome === null) unsteady.push(`# ${item.name} was not answered: ${before}`);
    else for (const path of differingPaths(dataOf(item, ignored), dataOf(again, ignored))) paths.add(path);
  }
  const proposed = [...ignored, ...[...paths].sort()];
  const lines = paths.size === 0 ? ['# no other data was different the second time'] : [];
  const list = proposed.length === 0 ? [] : ['ignore:', ...proposed.map((path) => `  - ${JSON.stringify(path)}`)];
  return [...list, ...lines, ...unsteady];
}

/** The members that a run added to the data or changed in it. */
const dataOf = (item: Item | undefined, ignored: readonly string[]) =>
  withoutNoise(parseExact(item?.changed ?? 'null'), ignored);

const endOf = (item: Item | undefined) => item?.outcome ?? item?.code ?? item?.verdict ?? 'nothing';
