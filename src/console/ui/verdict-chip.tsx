import type { NamedNode } from '../../shared/reasoning/trace/decided-by.ts';
import type { Item } from '../api/batch-items.ts';
import type { Verdict } from '../api/batches.ts';
import type { ExecutionRecord } from '../api/executions.ts';
import { type Say, useText } from '../text/use-text.tsx';
import { OutcomeChip } from './outcome-chip.tsx';

export const verdictLooks: Record<Verdict, string> = {
  passed: 'true',
  ran: 'none',
  same: 'true',
  failed: 'error',
  changed: 'error',
  noise: 'warn',
  'not-checked': 'warn',
  error: 'error',
  unanswered: 'warn',
  skipped: 'none',
  pending: 'none',
};

/** A case's verdict, as a word in a colour that only repeats the word. */
export function VerdictChip({ verdict }: { verdict: Verdict }) {
  const { say } = useText();
  return <span className={`chip ${verdictLooks[verdict]}`}>{say(`verdict.${verdict}`)}</span>;
}

/** The rule's result, in plain letters beside the verdict. */
export function OutcomeWord({ item }: { item: Pick<Item, 'outcome'> }) {
  const { say } = useText();
  return item.outcome === null ? null : <span className="outcome-word">{say(`outcome.${item.outcome}`)}</span>;
}

/** The node that decided, for a list. A rule is TRUE by all of its nodes, so none is named. */
export function decidedWords(outcome: string | null, decidedBy: NamedNode | null, say: Say): string {
  return outcome === 'TRUE' || decidedBy === null ? '' : say('cases.decidedBy', decidedBy);
}

/** The result of a run, or how it ended without one. */
export function RunResult({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  if (record.outcome !== null && record.state === 'succeeded') return <OutcomeChip outcome={record.outcome} />;
  const tone = record.state === 'failed' || record.state === 'timed-out' ? 'error' : 'none';
  return <span className={`chip ${tone}`}>{say(`history.state.${record.state}`)}</span>;
}
