import { type Execution, type ExecutionRecord, isEnd } from '../../api/executions.ts';
import { tookMs } from '../../run/headline.ts';
import { phasesOf } from '../../run/phases.ts';
import { useNow } from '../../run/queries/use-now.ts';
import { timingsShown } from '../../state/preferences.ts';
import { formatMs } from '../../text/durations.ts';
import { useText } from '../../text/use-text.tsx';
import { Icon } from '../../ui/icon.tsx';
import { AboutRun } from './about-run.tsx';
import { StateStrip } from './state-strip.tsx';

type Props = { record: ExecutionRecord | null; execution: Execution | null; trace: string | null };

/** Where the time of a run went: one line, and all of it when that is pressed. The line is kept free before a run. */
export function Timings({ record, execution, trace }: Props) {
  const { say } = useText();
  const shown = timingsShown.use();
  const open = record !== null && !isEnd(record.state);
  const now = useNow(open);
  if (record === null) return <div className="timings" />;
  const phases = phasesOf(record, now).map(({ name, ms }) => `${say(`strip.phase.${name}`)} ${formatMs(ms)}`);
  return (
    <div className="timings">
      <button
        type="button"
        className="quiet"
        aria-expanded={shown}
        title={say('strip.label')}
        onClick={() => timingsShown.set(!shown)}
      >
        <Icon name={shown ? 'down' : 'chevron'} size={12} />{' '}
        {open ? phases.at(-1) : say('strip.took', { time: formatMs(tookMs(record, now)) })}
      </button>
      <AboutRun record={record} execution={execution} trace={trace} />
      {shown && <StateStrip record={record} now={now} />}
    </div>
  );
}
