import type { ExecutionRecord } from '../../api/executions.ts';
import { useText } from '../../text/use-text.tsx';
import { OutcomeChip } from '../../ui/outcome-chip.tsx';

/** The result of a run, or how it ended without one. */
export function RunResult({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  if (record.decision !== null && record.state === 'succeeded') return <OutcomeChip outcome={record.decision} />;
  const tone = record.state === 'failed' || record.state === 'timed-out' ? 'error' : 'none';
  return <span className={`chip ${tone}`}>{say(`history.state.${record.state}`)}</span>;
}
