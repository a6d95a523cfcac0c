import type { Decision } from '../../shared/contract/job.ts';
import type { Member } from '../../shared/contract/json-tokens.ts';

const DECISIONS: ReadonlyMap<string, Decision> = new Map([
  ['T', 'TRUE'],
  ['F', 'FALSE'],
  ['N', 'NONE'],
]);
const LONGEST_ENTRY = 400;

/**
 * The decision of a rule by its trace: the entry of the node that was started is the last to be written. Null when the client
 * wrote no trace, an empty one, or one that ends in something else.
 */
export function decisionOf(process: Member | undefined): Decision | null {
  if (process?.kind !== 'string') return null;
  const end = process.raw.slice(-LONGEST_ENTRY);
  const match = /:(?:(O)(?:-I)?(?::0)?|(R-F)|([TFN])(-I)?:-?\d+)\]"$/.exec(end);
  if (!match) return null;
  const [, outOfTime, rejected, letter = '', inverse] = match;
  if (outOfTime !== undefined) return 'NONE';
  if (rejected !== undefined) return 'FALSE';
  const own = DECISIONS.get(letter) ?? null;
  if (inverse === undefined || own === 'NONE' || own === null) return own;
  return own === 'TRUE' ? 'FALSE' : 'TRUE';
}
