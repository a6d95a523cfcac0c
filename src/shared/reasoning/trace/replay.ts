import { isParallel, type Occurrence } from '../tree.ts';
import { decisionOf, type NodeTrace } from './node-trace.ts';
import type { ProcessEntry } from './read-process.ts';

/** A trace laid over a tree: what each occurrence came to, and entries no occurrence claims. */
export type Replay = { nodeTraces: ReadonlyMap<Occurrence, NodeTrace>; unplaced: ProcessEntry[] };

/** The trace while it is laid over the tree: which entries are claimed, and where those of a node stand. */
type Laying = {
  occurrences: readonly Occurrence[];
  entries: readonly ProcessEntry[];
  nodeTraces: Map<Occurrence, NodeTrace>;
  taken: boolean[];
  places: ReadonlyMap<string, number[]>;
};

/**
 * Lays a flat trace over the tree by occurrence. Entries come when a node ends, so a node's own entry closes the stretch in
 * which everything below it ended; parallel children mix within that stretch, and their stragglers end after it.
 */
export function replayProcess(occurrences: readonly Occurrence[], entries: readonly ProcessEntry[]): Replay {
  const nodeTraces = new Map<Occurrence, NodeTrace>();
  const taken = new Array<boolean>(entries.length).fill(false);
  const places = Map.groupBy(entries.keys(), (index) => entries[index]?.id ?? '');
  const laying: Laying = { occurrences, entries, nodeTraces, taken, places };
  const [root] = occurrences;
  if (root) {
    const last = entries.findLastIndex((entry) => isOf(entry, root));
    if (last >= 0) claim(laying, root, { from: 0, place: last });
  }
  placeStragglers(laying);
  return { nodeTraces, unplaced: entries.filter((_, index) => !taken[index]) };
}

/** The first free entry of an occurrence between two places, or -1. */
function find({ entries, taken, places }: Laying, occurrence: Occurrence, from: number, to: number): number {
  const own = places.get(occurrence.node.id) ?? [];
  const nameless = occurrence.node.type === 'P-Any' ? (places.get('0') ?? []) : [];
  for (const list of [own, nameless]) {
    for (let index = firstFrom(list, from); index < list.length; index++) {
      const place = list[index] ?? to;
      if (place >= to) break;
      const entry = entries[place];
      if (!taken[place] && entry && isOf(entry, occurrence)) return place;
    }
  }
  return -1;
}

/** Gives an occurrence its entry, and what ended before it to what is below it. */
function claim(laying: Laying, occurrence: Occurrence, { from, place }: { from: number; place: number }): void {
  const entry = laying.entries[place];
  if (!entry) return;
  laying.taken[place] = true;
  laying.nodeTraces.set(occurrence, entry.nodeTrace);
  if (entry.nodeTrace.outcome === 'OUT_OF_TIME') return;
  let next = from;
  if (occurrence.forward) next = claimWithin(laying, occurrence.forward, next, place);
  if (entry.nodeTrace.outcome === 'REJECTED') return;
  for (const child of occurrence.children) {
    const after = claimWithin(laying, child, isParallel(occurrence.node) ? from : next, place);
    if (!isParallel(occurrence.node)) next = after;
    if (settles(laying.nodeTraces.get(child), occurrence)) break;
  }
}

/** Where the search goes on: behind the entry that was found, or where it began. */
function claimWithin(laying: Laying, occurrence: Occurrence, from: number, to: number): number {
  const place = find(laying, occurrence, from, to);
  if (place < 0) return from;
  claim(laying, occurrence, { from, place });
  return place + 1;
}

function settles(nodeTrace: NodeTrace | undefined, parent: Occurrence): boolean {
  const decision = decisionOf(nodeTrace);
  return (parent.node.type === 'And' && decision === 'FALSE') || (parent.node.type === 'Any' && decision === 'TRUE');
}

/** Nodes that ran on after their parallel parent had decided are written later, anywhere. */
function placeStragglers(laying: Laying): void {
  const { occurrences, entries, nodeTraces, taken } = laying;
  if (taken.every(Boolean)) return;
  for (const occurrence of occurrences) {
    if (nodeTraces.has(occurrence) || !hasRunningParallel(occurrence, nodeTraces)) continue;
    const place = find(laying, occurrence, 0, entries.length);
    if (place < 0) continue;
    claim(laying, occurrence, { from: 0, place });
    for (const late of occurrences.slice(occurrence.index, occurrence.index + occurrence.size)) {
      const nodeTrace = nodeTraces.get(late);
      if (nodeTrace) nodeTraces.set(late, { ...nodeTrace, late: true });
    }
  }
}

function hasRunningParallel({ parent }: Occurrence, nodeTraces: ReadonlyMap<Occurrence, NodeTrace>): boolean {
  for (let above = parent; above; above = above.parent) {
    if (isParallel(above.node) && nodeTraces.has(above)) return true;
    if (nodeTraces.has(above)) return false;
  }
  return false;
}

/** The index of the first place at or after `from`, in an ascending list. */
function firstFrom(list: readonly number[], from: number): number {
  let [low, high] = [0, list.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((list[middle] ?? 0) < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** One published client writes the id 0 for every parallel ANY. */
function isOf({ id, name }: ProcessEntry, { node }: Occurrence): boolean {
  return id === node.id || (id === '0' && name === 'P-Any' && node.type === 'P-Any');
}
