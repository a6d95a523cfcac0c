import type { Decision, Outcome } from '../../shared/reasoning/trace/node-trace.ts';
import { useText } from '../text/use-text.tsx';

const looks: Record<Outcome, string> = {
  TRUE: 'true',
  FALSE: 'false',
  NONE: 'none',
  REJECTED: 'false',
  OUT_OF_TIME: 'none',
  LEFT_OUT: 'none',
  ERROR: 'error',
  UNFINISHED: 'error',
  UNKNOWN: 'error',
};

/** A node's result, as a word in a colour that only repeats the word. */
export function OutcomeChip({ outcome, large = false }: { outcome: Outcome | Decision; large?: boolean }) {
  const { say } = useText();
  return <span className={`chip ${looks[outcome]}${large ? ' large' : ''}`}>{say(`outcome.${outcome}`)}</span>;
}
