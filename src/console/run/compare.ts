import { type Comparison, compare, type NotCompared, writtenBy } from '../../shared/conclusions/compare.ts';
import { type Conclusion, conclusionOf, type NodeFacts, type WayStep } from '../../shared/conclusions/conclusion.ts';
import { differingValues, sameValue, type ValueRow } from '../../shared/conclusions/differing-values.ts';
import { parseExact } from '../../shared/contract/json/exact-json.ts';
import type { ExactValue } from '../../shared/contract/json/raw-number.ts';
import { compactJson } from '../../shared/json-tree/print-json.ts';
import type { Json } from '../../shared/json-tree/read-json.ts';
import type { NodeTrace } from '../../shared/reasoning/trace/node-trace.ts';
import type { Occurrence } from '../../shared/reasoning/tree.ts';
import type { Reading } from './reading.ts';

/** An ended run and what it came to; null where its client gave no answer. */
export type Ended = { reading: Reading; conclusion: Conclusion | null };

export function endedRun(reading: Reading, facts: NodeFacts): Ended {
  const { execution, result, late } = reading;
  const { record, input } = execution;
  const body = execution.lateResult ?? execution.result;
  if (body === null || result === null || (record.ending?.code !== null && !late)) return { reading, conclusion: null };
  return { reading, conclusion: conclusionOf({ input: input ?? '{}', body, success: result.success, facts }) };
}

/**
 * A run beside another one. `places`: where nodes differ, for the table. `first`: the first of them, where the ways of the two part; what
 * differs elsewhere may follow from it.
 */
export type Beside = Comparison & { places: ReadonlySet<Occurrence>; first: Occurrence | null };

export function compareRuns(base: Ended, run: Ended): Beside {
  const compared = base.conclusion && run.conclusion ? compare(base.conclusion, run.conclusion) : withoutAnswer;
  const places = differingNodes(base.reading, run.reading);
  return { ...compared, places, first: firstOf(places, compared.parting) };
}

const noAnswer: NotCompared = { part: 'outcome', why: 'not-kept', nodes: [] };
const withoutAnswer: Comparison = { kind: 'unknown', changes: [], notCompared: [noAnswer], parting: null };

/** The place at which the ways part; where the ways are the same, the first that differs and below which nothing does. */
function firstOf(places: ReadonlySet<Occurrence>, parting: WayStep | null): Occurrence | null {
  const sorted = [...places].sort((a, b) => a.index - b.index);
  const isLowest = ({ index, size }: Occurrence) =>
    !sorted.some((other) => other.index > index && other.index < index + size);
  return sorted.find(({ node }) => node.id === parting?.id) ?? sorted.find(isLowest) ?? null;
}

/** The values in which documents differ; a document that is not known (undefined) differs in nothing. */
export function valueRows(documents: readonly (ExactValue | undefined)[]): ValueRow[] {
  const rows = differingValues(documents.filter((document) => document !== undefined));
  return rows.map(({ path, values }) => {
    const known = values.values();
    return {
      path,
      values: documents.map((document) => (document === undefined ? null : (known.next().value ?? null))),
    };
  });
}

/** The same of what runs wrote; null for one that has not ended. */
export function writtenRows(runs: readonly (Conclusion | null)[]): ValueRow[] {
  const written = writtenBy(runs.filter((run) => run !== null)).values();
  return valueRows(runs.map((run) => (run === null ? undefined : written.next().value)));
}

/**
 * The occurrences of a node that had another outcome, wrote another value, read other keys, or ran in one of the two runs only. Their
 * durations do not count. Compares what a node wrote and read only if both clients report it.
 */
function differingNodes(a: Reading, b: Reading): Set<Occurrence> {
  const bothTell = a.trace === 'steps' && b.trace === 'steps';
  const all = new Set([...a.replay.nodeTraces.keys(), ...b.replay.nodeTraces.keys()]);
  const differs = (place: Occurrence) => {
    const [mine, theirs] = [a.replay.nodeTraces.get(place), b.replay.nodeTraces.get(place)];
    return mine?.outcome !== theirs?.outcome || (bothTell && !sameValue(traceOf(mine), traceOf(theirs)));
  };
  return new Set([...all].filter(differs));
}

/** What a node wrote, and the keys it read: one that read another key came to what it did for another reason. */
function traceOf({ writes, reads }: Pick<NodeTrace, 'writes' | 'reads'> = { writes: [], reads: [] }): ExactValue {
  const exact = (json: Json | null) => (json === null ? [] : [parseExact(compactJson(json))]);
  const wrote = writes.map(({ key, after, size = null }) => [key, exact(after), String(size)]);
  return [wrote, reads.map(({ key }) => key).sort()];
}
