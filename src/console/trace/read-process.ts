import { type Decision, inverted, type Mark, type Outcome } from './mark.ts';

/** One entry of the flat trace: a node that ended. */
export type ProcessEntry = { id: string; name: string; mark: Mark };

// A name may hold anything, so an entry only ends where another begins, or the text.
const ENTRY = /\[(\d+):(.*?):(?:(O)(?:-I)?(?::0)?|(R-F)|([TFNS?])(-I)?:(-?\d+))\](?=\[\d+:|$)/gsy;

const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ['T', 'TRUE'],
  ['F', 'FALSE'],
  ['N', 'NONE'],
]);

/** Reads the trace text of any client. `rest`: what at its end is no entry. */
export function readProcess(process: string): { entries: ProcessEntry[]; rest: string } {
  const entries: ProcessEntry[] = [];
  let end = 0;
  for (const match of process.matchAll(ENTRY)) {
    const [whole, id = '', name = '', outOfTime, rejected, letter = '', inverse, ms] = match;
    const executed = { letter, inverse: inverse !== undefined, ms: ms === undefined ? null : Number(ms) };
    entries.push({
      id,
      name,
      mark: outOfTime ? skipped('OUT_OF_TIME') : rejected ? skipped('REJECTED') : ended(executed),
    });
    end = match.index + whole.length;
  }
  return { entries, rest: process.slice(end) };
}

function ended({ letter, inverse, ms }: { letter: string; inverse: boolean; ms: number | null }): Mark {
  const own = DECISIONS.get(letter);
  if (own === undefined) return { ...nothing, outcome: letter === 'S' ? 'ERROR' : 'UNKNOWN', ms };
  const outcome = inverse ? inverted(own) : own;
  return { ...nothing, outcome, inverted: outcome !== own, ms };
}

function skipped(outcome: Outcome): Mark {
  return { ...nothing, outcome };
}

const nothing = { inverted: false, ms: null, late: false, error: null, reads: [], writes: [] };
