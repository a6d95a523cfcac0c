import { type Execution, type ExecutionRecord, isEnd } from '../../api/executions.ts';
import { deadlineOf, type Phase, phasesOf, reachedAt, tookMs } from '../../run/headline.ts';
import { useKept, useNow } from '../../run/queries/use-service.ts';
import { timingsShown } from '../../state/preferences.ts';
import { formatAge, formatMs } from '../../text/durations.ts';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';
import { Button } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { AboutRun } from './about-run.tsx';

type Props = { record: ExecutionRecord | null; execution: Execution | null; trace: string | null };

/** Where the time of a run went: one line, and all of it when that is pressed. The line is kept free before a run. */
export function Timings({ record, execution, trace }: Props) {
  const { say } = useText();
  const shown = timingsShown.use();
  const open = record !== null && !isEnd(record.state);
  const now = useNow(open);
  if (record === null) return <div className="timings wrap" />;
  const phases = phasesOf(record, now).map(({ name, ms }) => `${say(`strip.phase.${name}`)} ${formatMs(ms)}`);
  return (
    <div className="timings wrap">
      <Button
        className="quiet"
        aria-expanded={shown}
        title={say('strip.label')}
        onPress={() => timingsShown.set(!shown)}
      >
        <Icon name={shown ? 'down' : 'chevron'} size={12} />{' '}
        {open ? phases.at(-1) : say('strip.took', { time: formatMs(tookMs(record, now)) })}
      </Button>
      <AboutRun record={record} execution={execution} trace={trace} />
      {shown && <StateStrip record={record} now={now} />}
    </div>
  );
}

/** The way of a run: its stations and the time between them. While it goes on, the time does too. */
function StateStrip({ record, now }: { record: ExecutionRecord; now: number }) {
  const { say } = useText();
  const open = !isEnd(record.state);
  const phases = phasesOf(record, now);
  const total = phases.reduce((sum, { ms }) => sum + Math.max(ms, 0), 0);
  return (
    <div className="strip">
      <Stations record={record} />
      <div className={open ? 'phases open' : 'phases'} aria-hidden="true">
        {phases.map((phase) => (
          <i
            key={phase.name}
            className={phase.name}
            style={{ flexGrow: share(phase, total) }}
            title={`${say(`strip.phase.${phase.name}`)} ${formatMs(phase.ms)}`}
          />
        ))}
      </div>
      <p className="phase-words facts">
        {phases
          .filter(({ ms }) => ms > 0)
          .map(({ name, ms }) => `${say(`strip.phase.${name}`)} ${formatMs(ms)}`)
          .join(' · ')}
      </p>
    </div>
  );
}

/** The stations of a run, and when it reached each. */
function Stations({ record }: { record: ExecutionRecord }) {
  const { say } = useText();
  return (
    <ol className="stations" aria-label={say('strip.label')}>
      {stationsOf(record).map(({ name, at, reached }) => (
        <li key={name} className={reached ? 'reached' : ''}>
          <b>{say(name)}</b>
          <span>{at === null ? '–' : formatMs(at - (record.history[0]?.at ?? at))}</span>
        </li>
      ))}
    </ol>
  );
}

/** A stretch of no time still has to be seen. */
function share({ ms }: Phase, total: number): number {
  return total === 0 ? 1 : Math.max(ms / total, 0.01);
}

function stationsOf(record: ExecutionRecord): { name: TextKey; at: number | null; reached: boolean }[] {
  const at = (state: string) => reachedAt(record, state) ?? null;
  const ended = isEnd(record.state) ? (record.history.at(-1)?.at ?? null) : null;
  const stations: { name: TextKey; at: number | null }[] = [
    { name: 'strip.queued', at: at('queued') },
    { name: 'strip.dispatched', at: at('dispatched') },
    { name: 'strip.picked-up', at: at('picked-up') },
    { name: endName(record), at: ended },
  ];
  return stations.map((station) => ({ ...station, reached: station.at !== null }));
}

function endName(record: ExecutionRecord): TextKey {
  switch (record.state) {
    case 'cancelled':
    case 'timed-out':
    case 'rejected':
      return `strip.end.${record.state}`;
    default:
      return 'strip.ended';
  }
}

const SECOND = 1000;

/** A run that is on its way: what happens now, how long it may still take at the most, and what to do when nothing comes. */
export function Waiting({ record }: { record: ExecutionRecord | null }) {
  const { say } = useText();
  const now = useNow(true);
  const { data } = useKept();
  if (record === null) return <div className="waiting">{say('wait.sending')}</div>;
  const deadline = data === undefined ? null : deadlineOf(record, data.waits);
  const left = deadline === null ? null : Math.max(0, Math.ceil((deadline.at - now) / SECOND));
  const state = record.state === 'picked-up' || record.state === 'dispatched' ? record.state : 'queued';
  return (
    <div className="waiting">
      {deadline !== null && (
        <progress
          aria-label={say('wait.label')}
          max={deadline.at - deadline.from}
          value={Math.min(now, deadline.at) - deadline.from}
        />
      )}
      <span>
        {left !== null && <span>{say('wait.left', { time: formatAge(left * SECOND) })} </span>}
        <span>{say(`wait.${state}`)}</span>
      </span>
      <Stations record={record} />
    </div>
  );
}
