import { type Decision, decisionSchema } from '../job.ts';
import type { Member } from '../json/json-tokens.ts';
import { lastEntry } from '../trace-entries.ts';

/**
 * The decision of a rule, as its client tells it, else by its trace: the entry of the node that was started is the last to be written, unless
 * nodes below a parallel one end after it. Null when the client wrote no trace, an empty one, or one that ends in something else.
 */
export function decisionOf(process: Member | undefined, outcome: Member | undefined): Decision | null {
  if (process?.kind !== 'string') return null;
  const told = decisionSchema.options.find((decision) => outcome?.raw === JSON.stringify(decision));
  if (told !== undefined) return told;
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
