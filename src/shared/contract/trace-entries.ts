/** The state of a node in one of its occurrences, with inversion done. */
export type NodeState = 'TRUE' | 'FALSE' | 'NONE' | 'ERROR' | 'OUT_OF_TIME' | 'REJECTED' | 'UNKNOWN';

/** One entry of a flat trace: a node that ended, or did not run. `inverted`: its own state was the opposite. `ms`: null if it did not run. */
type TraceEntry = { id: string; name: string; state: NodeState; inverted: boolean; ms: number | null };

type State = Omit<TraceEntry, 'id' | 'name'>;

const STATES: Readonly<Record<string, NodeState>> = { T: 'TRUE', F: 'FALSE', N: 'NONE', S: 'ERROR' };
const OPPOSITES: Partial<Record<NodeState, NodeState>> = { TRUE: 'FALSE', FALSE: 'TRUE' };

const END = String.raw`:(?:(O)(?:-I)?(?::0)?|(R-F)|([TFNS?])(-I)?:(-?\d+))\]`;
// A node's name may hold anything, so an entry only ends where another begins, or the text.
const ENTRY = new RegExp(String.raw`\[(\d+):(.*?)${END}(?=\[\d+:|$)`, 'gsy');
const LAST_END = new RegExp(`${END}$`);
const LONGEST_END = 400;

/** The entries of the trace text of any client. `rest`: what at its end is no entry. */
export function traceEntries(trace: string): { entries: TraceEntry[]; rest: string } {
  const entries: TraceEntry[] = [];
  let read = 0;
  for (const match of trace.matchAll(ENTRY)) {
    const [whole, id = '', name = '', ...end] = match;
    entries.push({ id, name, ...stateIn(end) });
    read = match.index + whole.length;
  }
  return { entries, rest: trace.slice(read) };
}

/** The last entry of a trace without a look at the others; undefined when the text ends in something else. */
export function lastEntry(trace: string): State | undefined {
  const match = LAST_END.exec(trace.slice(-LONGEST_END));
  return match ? stateIn(match.slice(1)) : undefined;
}

function stateIn([outOfTime, rejected, letter = '', inverse, ms]: (string | undefined)[]): State {
  if (outOfTime !== undefined) return { state: 'OUT_OF_TIME', inverted: false, ms: null };
  if (rejected !== undefined) return { state: 'REJECTED', inverted: false, ms: null };
  const own = STATES[letter] ?? 'UNKNOWN';
  const opposite = inverse === undefined ? undefined : OPPOSITES[own];
  return { state: opposite ?? own, inverted: opposite !== undefined, ms: Number(ms) };
}
