import { traceEntries } from '../../contract/trace-entries.ts';
import type { NamedNode } from './decided-by.ts';

/**
 * The node at which two runs of a rule begin to differ: in the order in which nodes end, the first that one of them has otherwise. Null where
 * the traces do not say.
 */
export function firstDifference(before: string | null, after: string | null): NamedNode | null {
  const [old, now] = [entriesOf(before), entriesOf(after)];
  const at = now.findIndex(({ id, state }, index) => id !== old[index]?.id || state !== old[index]?.state);
  const entry = at === -1 ? old[now.length] : now[at];
  return entry === undefined ? null : { id: entry.id, name: entry.name };
}

const entriesOf = (trace: string | null) => (trace === null ? [] : traceEntries(trace).entries);
