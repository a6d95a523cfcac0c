import { traceEntries } from '../../contract/trace-entries.ts';
import { type NodeTrace, plainTrace } from './node-trace.ts';

/** One entry of the flat trace: a node that ended. */
export type ProcessEntry = { id: string; name: string; nodeTrace: NodeTrace };

/** Reads the trace text of any client. `rest`: what at its end is no entry. */
export function readProcess(process: string): { entries: ProcessEntry[]; rest: string } {
  const { entries, rest } = traceEntries(process);
  const entryOf = ({ id, name, state: outcome, inverted, ms }: (typeof entries)[number]): ProcessEntry => ({
    ...{ id, name, nodeTrace: { ...plainTrace, outcome, inverted, ms } },
  });
  return { entries: entries.map(entryOf), rest };
}
