/** One entry of a flat trace: a node that ended, with the letter it ended with; or why it did not run. */
export type TraceEntry = {
  id: string;
  name: string;
  end: { kind: 'out-of-time' } | { kind: 'rejected' } | { kind: 'ran'; letter: string; inverse: boolean; ms: number };
};

// A node's name may hold anything, so an entry only ends where another begins, or the text.
const ENTRY = /\[(\d+):(.*?):(?:(O)(?:-I)?(?::0)?|(R-F)|([TFNS?])(-I)?:(-?\d+))\](?=\[\d+:|$)/gsy;

/** The entries of the trace text of any client. `rest`: what at its end is no entry. */
export function traceEntries(trace: string): { entries: TraceEntry[]; rest: string } {
  const entries: TraceEntry[] = [];
  let end = 0;
  for (const match of trace.matchAll(ENTRY)) {
    const [whole, id = '', name = ''] = match;
    entries.push({ id, name, end: endOf(match) });
    end = match.index + whole.length;
  }
  return { entries, rest: trace.slice(end) };
}

function endOf([, , , outOfTime, rejected, letter = '', inverse, ms]: RegExpExecArray): TraceEntry['end'] {
  if (outOfTime !== undefined) return { kind: 'out-of-time' };
  if (rejected !== undefined) return { kind: 'rejected' };
  return { kind: 'ran', letter, inverse: inverse !== undefined, ms: Number(ms) };
}
