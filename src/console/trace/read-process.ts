import { type TraceEntry, traceEntries } from '../../shared/contract/trace-entries.ts';
import { type Decision, inverted, type Mark, type Outcome } from './mark.ts';

/** One entry of the flat trace: a node that ended. */
export type ProcessEntry = { id: string; name: string; mark: Mark };

const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ['T', 'TRUE'],
  ['F', 'FALSE'],
  ['N', 'NONE'],
]);

/** Reads the trace text of any client. `rest`: what at its end is no entry. */
export function readProcess(process: string): { entries: ProcessEntry[]; rest: string } {
  const { entries, rest } = traceEntries(process);
  return { entries: entries.map(({ id, name, end }) => ({ id, name, mark: markOf(end) })), rest };
}

function markOf(end: TraceEntry['end']): Mark {
  if (end.kind === 'ran') return ended(end);
  return skipped(end.kind === 'rejected' ? 'REJECTED' : 'OUT_OF_TIME');
}

function ended({ letter, inverse, ms }: Extract<TraceEntry['end'], { kind: 'ran' }>): Mark {
  const own = DECISIONS.get(letter);
  if (own === undefined) return { ...nothing, outcome: letter === 'S' ? 'ERROR' : 'UNKNOWN', ms };
  const outcome = inverse ? inverted(own) : own;
  return { ...nothing, outcome, inverted: outcome !== own, ms };
}

function skipped(outcome: Outcome): Mark {
  return { ...nothing, outcome };
}

const nothing = { inverted: false, ms: null, late: false, error: null, reads: [], writes: [] };
