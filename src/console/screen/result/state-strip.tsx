import type { ExecutionRecord } from '../../api/executions.ts';
import { isEnd } from '../../api/executions.ts';
import { type Phase, phasesOf, reachedAt } from '../../run/phases.ts';
import { formatMs } from '../../text/durations.ts';
import type { TextKey } from '../../text/en.ts';
import { useText } from '../../text/use-text.tsx';

/** The way of a run: its stations and the time between them. While it goes on, the time does too. */
export function StateStrip({ record, now }: { record: ExecutionRecord; now: number }) {
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
      <p className="phase-words">
        {phases
          .filter(({ ms }) => ms > 0)
          .map(({ name, ms }) => `${say(`strip.phase.${name}`)} ${formatMs(ms)}`)
          .join(' · ')}
      </p>
    </div>
  );
}

/** The stations of a run, and when it reached each. */
export function Stations({ record }: { record: ExecutionRecord }) {
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
