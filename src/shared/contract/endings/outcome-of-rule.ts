import type { Outcome } from '../job.ts';
import type { Member } from '../json/json-tokens.ts';
import { lastEntry } from '../trace-entries.ts';
import { decisionNames } from '../verdict.ts';

/**
 * The outcome of a rule, as its client tells it, else by its trace: the entry of the node that was started is the last to be written, unless
 * nodes below a parallel one end after it. Null when neither says.
 */
export function outcomeOf(process: Member | undefined, outcome: Member | undefined): Outcome | null {
  const known = decisionNames.find((each) => outcome?.raw === JSON.stringify(each));
  if (known !== undefined) return known;
  if (process?.kind !== 'string') return null;
  const last = lastEntry(process.raw.slice(0, -1)); // without its closing quote
  switch (last?.state) {
    case 'TRUE':
    case 'FALSE':
    case 'NONE':
      return last.state;
    case 'OUT_OF_TIME':
      return 'NONE';
    case 'REJECTED':
      return 'FALSE';
    default:
      return null;
  }
}
