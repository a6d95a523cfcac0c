import type { Json } from '../../json-tree/read-json.ts';

export type Decision = 'TRUE' | 'FALSE' | 'NONE';

/** How one occurrence ended. `UNKNOWN`: the client wrote a state that it does not know itself. */
export type Outcome = Decision | 'ERROR' | 'REJECTED' | 'OUT_OF_TIME' | 'LEFT_OUT' | 'UNFINISHED' | 'UNKNOWN';

/** A key as a node accessed it; a value is null when there was none, `size` the length of one too long to carry. */
export type Read = { key: string; value: Json | null; size: number | null };
export type Write = { key: string; before: Json | null; after: Json | null; size: number | null };

/** What the trace says of one occurrence of a node. `outcome` is what its parent saw, so it includes inversion. */
export type NodeTrace = {
  outcome: Outcome;
  /** TRUE and FALSE were swapped by the node's configuration. */
  inverted: boolean;
  /** When it began, ms since the run did; null where the trace does not say. */
  start: number | null;
  /** Wall clock, with everything below. */
  ms: number | null;
  /** Ended after the parallel node above it had already decided. */
  late: boolean;
  error: string | null;
  /** In a dry run: the replacement of its own code. */
  instead: 'stubbed' | 'assumed' | null;
  reads: Read[];
  writes: Write[];
};

/** What a trace does not say that has no more than outcomes. */
export const plainTrace = { start: null, late: false, error: null, instead: null, reads: [], writes: [] };

/** The outcome that a parent works with; null when the run ended there, or nothing is known of the node. */
export function decisionOf(nodeTrace: NodeTrace | undefined): Decision | null {
  const outcome = nodeTrace?.outcome;
  switch (outcome) {
    case undefined:
      return null;
    case 'TRUE':
    case 'FALSE':
    case 'NONE':
      return outcome;
    case 'REJECTED':
      return 'FALSE';
    case 'OUT_OF_TIME':
    case 'LEFT_OUT':
      return 'NONE';
    default:
      return null;
  }
}

/** What the code of a node came to, before inversion; null where it did not run to its end. */
export function ownOf({ outcome, inverted: isInverted }: NodeTrace): Decision | null {
  if (outcome !== 'TRUE' && outcome !== 'FALSE' && outcome !== 'NONE') return null;
  return isInverted ? inverted(outcome) : outcome;
}

export function inverted(decision: Decision): Decision {
  if (decision === 'NONE') return decision;
  return decision === 'TRUE' ? 'FALSE' : 'TRUE';
}
