import type { Json } from '../../shared/json-tree/read-json.ts';
import type { Mark } from '../../shared/reasoning/trace/mark.ts';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import { sameJson } from '../json/same-json.ts';
import type { Reading } from './reading.ts';

/** Runs that came out alike: same end, same data to the last digit, same way through the tree. */
export type Group<T> = { runs: { of: T; reading: Reading }[]; reading: Reading };

/** Puts runs that came out alike together, the largest group first; of equal ones the earlier. */
export function groupRuns<T>(runs: readonly { of: T; reading: Reading }[]): Group<T>[] {
  const groups: Group<T>[] = [];
  for (const run of runs) {
    const group = groups.find(({ reading }) => isSameRun(reading, run.reading));
    if (group) group.runs.push(run);
    else groups.push({ runs: [run], reading: run.reading });
  }
  return groups.sort((a, b) => b.runs.length - a.runs.length);
}

function isSameRun(a: Reading, b: Reading): boolean {
  return (
    a.execution.record.state === b.execution.record.state &&
    (a.execution.record.outcome?.code ?? null) === (b.execution.record.outcome?.code ?? null) &&
    a.result?.error === b.result?.error &&
    isSameDocument(a.after, b.after) &&
    differingNodes(a, b).size === 0
  );
}

function isSameDocument(a: Json | null, b: Json | null): boolean {
  return a === null || b === null ? a === b : sameJson(a, b);
}

/**
 * The first place where runs part: it differs, and nothing below it does. What differs elsewhere may follow from it. Where a run is made again,
 * the first entry of its trace that differs counts (`shared/reasoning/trace/first-difference.ts`).
 */
export function firstDifference(differing: ReadonlySet<Occurrence>): Occurrence | null {
  const places = [...differing].sort((a, b) => a.index - b.index);
  const isLowest = ({ index, size }: Occurrence) =>
    !places.some((other) => other.index > index && other.index < index + size);
  return places.find(isLowest) ?? null;
}

/** All places where a run parts from the one it is compared with, and the first of them. A difference elsewhere may follow from the first. */
export type Parting = { places: ReadonlySet<Occurrence>; first: Occurrence | null };

export function partingOf(base: Reading, reading: Reading): Parting {
  const places = differingNodes(base, reading);
  return { places, first: firstDifference(places) };
}

/**
 * The occurrences of a node that had another outcome, wrote another value, or ran in one of the two runs only. Their durations do not count.
 * Compares what a node wrote only if both clients report it.
 */
export function differingNodes(a: Reading, b: Reading): Set<Occurrence> {
  const differing = new Set<Occurrence>();
  const bothTellWrites = a.trace === 'steps' && b.trace === 'steps';
  for (const occurrence of new Set([...a.replay.marks.keys(), ...b.replay.marks.keys()])) {
    const [mine, theirs] = [a.replay.marks.get(occurrence), b.replay.marks.get(occurrence)];
    const differs = mine?.outcome !== theirs?.outcome || (bothTellWrites && !sameWrites(mine, theirs));
    if (differs) differing.add(occurrence);
  }
  return differing;
}

function sameWrites(a: Mark | undefined, b: Mark | undefined): boolean {
  const [mine, theirs] = [a?.writes ?? [], b?.writes ?? []];
  return (
    mine.length === theirs.length &&
    mine.every(({ key, after, size }, index) => {
      const other = theirs[index];
      return other?.key === key && other.size === size && isSameDocument(after, other.after);
    })
  );
}
