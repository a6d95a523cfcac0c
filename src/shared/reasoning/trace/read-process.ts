import { type TraceEntry, traceEntries } from '../../contract/trace-entries.ts';
import type { NodeTrace } from './node-trace.ts';

/** One entry of the flat trace: a node that ended. */
export type ProcessEntry = { id: string; name: string; nodeTrace: NodeTrace };

/** Reads the trace text of any client. `rest`: what at its end is no entry. */
export function readProcess(process: string): { entries: ProcessEntry[]; rest: string } {
  const { entries, rest } = traceEntries(process);
  return { entries: entries.map((entry) => ({ id: entry.id, name: entry.name, nodeTrace: nodeTraceOf(entry) })), rest };
}

function nodeTraceOf({ state, inverted, ms }: TraceEntry): NodeTrace {
  return { ...nothing, outcome: state, inverted, ms };
}

const nothing = { start: null, late: false, error: null, instead: null, reads: [], writes: [] };
