import type { ExecutionRecord } from '../../api/executions.ts';
import { formatTime } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { CopyButton } from '../../ui/copy-button.tsx';

type Props = { record: ExecutionRecord; trace: string | null };

/** When a run was asked for, by whom, on which version of the rules, and under which id its client wrote about it into its log. */
export function AboutRun({ record, trace }: Props) {
  const { say, language } = useText();
  const { history, keyName, lane, rules } = record;
  const words = [
    formatTime(history[0]?.at ?? 0, language, Date.now()),
    keyName !== null && say('history.by', { name: keyName }),
    lane !== null && say('about.lane', { lane }),
    rules?.released != null && say('about.version', { version: rules.released }),
    trace !== null && say('about.trace', { trace }),
  ];
  return (
    <span className="about-run">
      {words.filter((word) => word !== false).join(' · ')}
      {trace !== null && (
        <CopyButton label={say('about.trace.copy')} done={say('about.trace.copied')} text={() => trace} quiet />
      )}
    </span>
  );
}
